"""How good recall is on a golden set: asked once, measured by known metrics, held against gates.

    golden set → check → answers (one recall per query) → figures → threshold, gates

A query that raises is an error of the whole evaluation, never a miss and never a pass. All figures are those that a
user gets: the engine's own recall, through its stores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from vaultmem.errors import EngineError, VaultmemError
from vaultmem.evaluation.baselines import Baseline, baselines
from vaultmem.evaluation.figures import (
    RANKED,
    Answered,
    Figures,
    Gate,
    Threshold,
    figures,
    find_threshold,
    gates,
    metrics_library,
    share_of,
)
from vaultmem.evaluation.golden import GoldenQuery, GoldenSet, HoldsMemories, check_golden
from vaultmem.text.languages import script_language

if TYPE_CHECKING:
    from vaultmem.recall.answer import Recall
    from vaultmem.views import OpenedMemory


class Recalls(HoldsMemories, Protocol):
    """What is evaluated: it holds memories, and recalls them."""

    def recall(self, query: str, *, limit: int | None = None, min_score: float | None = None) -> Recall: ...


class EvaluationError(EngineError):
    """A query of the golden set could not be answered at all; the message names it."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How recall did on a golden set."""

    golden: GoldenSet
    answers: tuple[Answered, ...]
    figures: Figures
    languages: Mapping[str, Figures]
    """By group: `same`, `cross`, `zh>en` …"""
    hint_precision: float
    """Share of all hints that are relevant; NaN without hints."""
    silence: float
    """Share of all negatives with no hint."""
    false_hints: Mapping[str, float]
    """By type of negative: the share that gets a hint."""
    threshold: Threshold
    gates: tuple[Gate, ...]
    baselines: tuple[Baseline, ...]

    @property
    def passes(self) -> bool:
        """Every gate holds."""
        return all(gate.holds for gate in self.gates)

    @property
    def misses(self) -> tuple[Answered, ...]:
        """The answers that are wrong, the worst first: missed memories from the lowest score, then false hints
        from the highest."""
        wrong = [answer for answer in self.answers if not answer.is_right]
        return tuple(sorted(wrong, key=lambda a: (not a.is_positive, a.score if a.is_positive else -a.score)))


def evaluate(
    engine: Recalls,
    golden: GoldenSet,
    *,
    min_score: float,
    hint_limit: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Evaluation:
    """Ask every query of the set and measure the answers; `min_score` and `hint_limit` are those in force.

    Raises:
        GoldenSetError: the set does not fit the vault.
        EvaluationError: a query could not be answered.
        EngineError: what measures rankings is not installed; told before the first query is asked.
    """
    metrics_library()
    notes = engine.notes()
    check_golden(golden, notes)
    memories = {note.id: engine.open_memory(note.id) for note in notes if note.admitted and note.id}
    languages = {
        note_id: script_language(memory.name + memory.description + memory.body)
        for note_id, memory in memories.items()
    }
    answers = []
    for number, query in enumerate(golden.queries):
        answers.append(_ask(engine, query, languages, min_score, hint_limit))
        progress(number + 1, len(golden.queries))
    return _measured(golden, tuple(answers), memories, min_score, hint_limit)


def _ask(
    engine: Recalls, query: GoldenQuery, languages: Mapping[str, str], min_score: float, hint_limit: int
) -> Answered:
    try:
        recall = engine.recall(query.text, limit=RANKED, min_score=0.0)
    except VaultmemError as error:
        raise EvaluationError(
            f"{query.text[:60]!r} was not answered: {error}", advice=error.advice
        ) from error
    except Exception as error:
        raise EvaluationError(f"{query.text[:60]!r} raised {type(error).__name__}: {error}") from error
    ranked = [hint for hint in recall.hints if hint.score > 0]
    looked_at = query.relevant if query.relevant else [hint.id for hint in ranked[:1]]
    best = max((c for c in recall.candidates if c.id in looked_at), key=lambda c: c.score, default=None)
    return Answered(
        query,
        _groups(query, languages),
        tuple(hint.id for hint in ranked),
        best.score if best else 0.0,
        tuple(hint.id for hint in ranked[:hint_limit] if hint.score >= min_score),
        best.id if best else None,
        best.signals if best else None,
    )


def _groups(query: GoldenQuery, languages: Mapping[str, str]) -> tuple[str, ...]:
    held = sorted({languages[i] for i in query.relevant if i in languages})
    if not held:
        return ()
    return ("same" if query.language in held else "cross", f"{query.language}>{'+'.join(held)}")


# --- what the answers come to


def _measured(
    golden: GoldenSet,
    answers: tuple[Answered, ...],
    memories: Mapping[str, OpenedMemory],
    min_score: float,
    hint_limit: int,
) -> Evaluation:
    positives = [answer for answer in answers if answer.is_positive]
    negatives = [answer for answer in answers if not answer.is_positive]
    off_topic = [answer for answer in negatives if answer.query.is_off_topic]
    types = sorted({answer.query.negative_type for answer in negatives})
    hints = [(hint, answer) for answer in answers for hint in answer.hints]
    overall, by_group = figures(positives, min_score), _figures_by_group(positives, min_score)
    return Evaluation(
        golden,
        answers,
        overall,
        by_group,
        hint_precision=share_of(hint in answer.query.relevant for hint, answer in hints),
        silence=share_of(not answer.hints for answer in negatives),
        false_hints={
            kind: share_of(bool(a.hints) for a in negatives if a.query.negative_type == kind)
            for kind in types
        },
        threshold=find_threshold([a.score for a in positives], [a.score for a in off_topic], min_score),
        gates=gates(overall, by_group, off_topic),
        baselines=baselines(answers, memories, hint_limit),
    )


def _figures_by_group(positives: Sequence[Answered], min_score: float) -> dict[str, Figures]:
    """`same` and `cross` first, then the pairs of languages."""
    groups = {group for answer in positives for group in answer.groups}
    in_order = sorted(groups, key=lambda group: (">" in group, group != "same", group))
    return {group: figures([a for a in positives if group in a.groups], min_score) for group in in_order}
