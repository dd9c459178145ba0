"""How good recall is on a golden set: asked once, measured by known metrics, held against gates.

    golden set → check → answers (one recall per query) → figures → threshold, gates

Ranking figures come from `ir_measures`. A query that raises is an error of the whole evaluation, never a miss and
never a pass. All figures are those that a user gets: the engine's own recall, through its stores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from vaultmem.errors import EngineError, VaultmemError
from vaultmem.evaluation.baselines import OwnBM25, WordCount
from vaultmem.evaluation.golden import GoldenQuery, GoldenSet, Kind, check_golden
from vaultmem.recall.scoring import Signals
from vaultmem.text.languages import script_language

if TYPE_CHECKING:
    from vaultmem.recall.answer import Recall
    from vaultmem.views import NoteView, OpenedMemory

RANKED = 10
"""Depth to which rankings are measured."""
MOST_OVERLAP = 0.3
"""Of misses and false hints together at the best threshold; with more no threshold is advised."""
FEWEST_FOR_A_GATE = 10
"""A gate on fewer queries than this would be decided by chance: it is left out."""

FOUND_BAR = 0.60
FALSE_HINTS_BAR = 0.20
RECALL_5_BAR = 0.80
CROSS_LANGUAGE_BAR = 0.45


class Engine(Protocol):
    """What is evaluated."""

    def notes(self) -> tuple[NoteView, ...]: ...
    def open_memory(self, id: str) -> OpenedMemory: ...  # noqa: A002
    def recall(self, query: str, *, limit: int | None = None, min_score: float | None = None) -> Recall: ...


class EvaluationError(EngineError):
    """A query of the golden set could not be answered at all; the message names it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one query of the set got."""

    query: GoldenQuery
    groups: tuple[str, ...]
    """Of a positive: `same` or `cross`, and the languages as `zh>en` (query, memory)."""
    ranking: tuple[str, ...]
    """Ids, best first, scores above 0, at most RANKED."""
    score: float
    """Of the best relevant memory (0 when none was a candidate); for a negative, of the best memory."""
    hints: tuple[str, ...]
    best_id: str | None = None
    """The relevant memory that `score` is of; for a negative, the memory."""
    signals: Signals | None = None
    """Of that memory."""

    @property
    def is_positive(self) -> bool:
        """Some memory answers the query."""
        return self.query.kind is Kind.POSITIVE

    @property
    def is_right(self) -> bool:
        """A positive that shows a relevant memory, or a negative that shows nothing."""
        return bool(set(self.hints) & set(self.query.relevant)) if self.is_positive else not self.hints

    @property
    def rank(self) -> int | None:
        """Of the first relevant memory, from 1; None when none is ranked."""
        ranks = [self.ranking.index(i) + 1 for i in self.query.relevant if i in self.ranking]
        return min(ranks, default=None)


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of some positives; shares of 1, NaN where there are none."""

    queries: int
    recall_1: float
    recall_5: float
    recall_10: float
    mrr_10: float
    ndcg_10: float
    found: float
    """Share whose relevant memory reaches the threshold."""
    shown: float
    """Share with a relevant memory among the hints."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The threshold in force, the best one for this set, and how far scores of hits and strangers overlap."""

    current: float
    best: float | None
    """None: the distributions overlap too much for any threshold to be advised, see `reason`."""
    accuracy: float
    """Balanced accuracy of the best threshold, advised or not."""
    overlap: float
    """Misses and false hints together at the best threshold: 0 apart, 1 the same."""
    overlap_range: tuple[float, float] | None
    """From where hits are (5th percentile) to where strangers are (95th), where these lie in each other."""
    reason: str = ""

    @property
    def is_inside_overlap(self) -> bool:
        """The threshold in force lies where hits and strangers are mixed."""
        return (
            self.overlap_range is not None and self.overlap_range[0] <= self.current <= self.overlap_range[1]
        )


@dataclass(frozen=True, slots=True)
class Gate:
    """A figure and the bar it must reach (or with `is_ceiling` stay under)."""

    name: str
    value: float
    bar: float
    is_ceiling: bool = False

    @property
    def holds(self) -> bool:
        """NaN never holds."""
        return self.value <= self.bar if self.is_ceiling else self.value >= self.bar


@dataclass(frozen=True, slots=True)
class Baseline:
    """The figures of a simpler way to answer the same queries, where any match is a hint."""

    name: str
    figures: Figures
    silence: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How recall did on a golden set."""

    golden: GoldenSet
    answers: tuple[Answer, ...]
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
    def misses(self) -> tuple[Answer, ...]:
        """The answers that are wrong, the worst first: missed memories from the lowest score, then false hints
        from the highest."""
        wrong = [answer for answer in self.answers if not answer.is_right]
        return tuple(sorted(wrong, key=lambda a: (not a.is_positive, a.score if a.is_positive else -a.score)))


def evaluate(
    engine: Engine,
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
    engine: Engine, query: GoldenQuery, languages: Mapping[str, str], min_score: float, hint_limit: int
) -> Answer:
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
    return Answer(
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


# --- figures --------------------------------------------------------------------------------------------


def _measured(
    golden: GoldenSet,
    answers: tuple[Answer, ...],
    memories: Mapping[str, OpenedMemory],
    min_score: float,
    hint_limit: int,
) -> Evaluation:
    positives = [answer for answer in answers if answer.is_positive]
    negatives = [answer for answer in answers if not answer.is_positive]
    groups = sorted(
        {group for a in positives for group in a.groups},
        key=lambda group: (">" in group, group != "same", group),
    )
    by_group = {group: figures([a for a in positives if group in a.groups], min_score) for group in groups}
    types = sorted({answer.query.negative_type for answer in negatives})
    false_hints = {
        kind: share(bool(a.hints) for a in negatives if a.query.negative_type == kind) for kind in types
    }
    hints = [(hint, answer) for answer in answers for hint in answer.hints]
    overall = figures(positives, min_score)
    return Evaluation(
        golden,
        answers,
        overall,
        by_group,
        share(hint in answer.query.relevant for hint, answer in hints),
        share(not answer.hints for answer in negatives),
        false_hints,
        find_threshold(
            [a.score for a in positives], [a.score for a in negatives if a.query.is_off_topic], min_score
        ),
        _gates(overall, by_group, [a for a in negatives if a.query.is_off_topic]),
        _baselines(answers, memories, hint_limit),
    )


def metrics_library() -> ModuleType:
    """`ir_measures`, which brings SciPy and so comes with an extra. Raises EngineError where it is missing."""
    try:
        import ir_measures
    except ImportError as error:
        raise EngineError(
            f"evaluation needs the extra `eval`: {error}",
            advice="pip install 'march-vaultmem[eval]', or in a checkout: pip install -c constraints.txt '.[eval]'",
        ) from error
    return ir_measures


def figures(positives: Sequence[Answer], min_score: float) -> Figures:
    """The figures of these positives at a threshold."""
    metrics = metrics_library()
    if not positives:
        return Figures(0, *[math.nan] * 7)
    asked = {str(n): dict.fromkeys(a.query.relevant, 1) for n, a in enumerate(positives)}
    ranked = {
        str(n): {note_id: float(-place) for place, note_id in enumerate(a.ranking)}
        for n, a in enumerate(positives)
    }
    success, reciprocal, gain = metrics.Success, metrics.RR, metrics.nDCG
    measures = [success @ 1, success @ 5, success @ 10, reciprocal @ RANKED, gain @ RANKED]
    means = metrics.calc_aggregate(measures, asked, ranked)
    recall_1, recall_5, recall_10, mrr, ndcg = (float(means[measure]) for measure in measures)
    found = share(answer.score >= min_score for answer in positives)
    shown = share(answer.is_right for answer in positives)
    return Figures(len(positives), recall_1, recall_5, recall_10, mrr, ndcg, found, shown)


def find_threshold(hits: Sequence[float], strangers: Sequence[float], current: float) -> Threshold:
    """The threshold that tells these scores apart best, or the reason why none does."""
    import numpy as np

    if not hits or not strangers:
        return Threshold(current, None, math.nan, math.nan, None, "there are no off-topic negatives")
    positives, negatives = np.asarray(hits), np.asarray(strangers)
    steps = np.unique(np.concatenate([positives, negatives, [math.inf]]))
    kept = (positives >= steps[:, None]).mean(axis=1)
    silent = (negatives < steps[:, None]).mean(axis=1)
    best = int(np.argmax(kept + silent))
    overlap = float(2 - kept[best] - silent[best])
    low, high = float(np.quantile(positives, 0.05)), float(np.quantile(negatives, 0.95))
    reason = ""
    if overlap > MOST_OVERLAP:
        reason = (
            f"hits and strangers overlap too much: even the best threshold misses {1 - kept[best]:.0%} of the hits "
            f"and lets {1 - silent[best]:.0%} of the strangers through"
        )
    return Threshold(
        current,
        None if reason else float(steps[best]),
        float((kept[best] + silent[best]) / 2),
        overlap,
        (low, high) if low < high else None,
        reason,
    )


def share(facts: Iterable[bool]) -> float:
    """The share of facts that hold; NaN of none."""
    counted = list(facts)
    return sum(counted) / len(counted) if counted else math.nan


def _gates(overall: Figures, groups: Mapping[str, Figures], off_topic: Sequence[Answer]) -> tuple[Gate, ...]:
    """The gates of one set; those on too few queries are left out."""
    same, cross = groups.get("same"), groups.get("cross")
    gates = [(Gate("relevant memories at or above the threshold", overall.found, FOUND_BAR), overall.queries)]
    if same:
        gates.append((Gate("recall@5 within a language", same.recall_5, RECALL_5_BAR), same.queries))
    if cross:
        gates.append((Gate("recall@1 across languages", cross.recall_1, CROSS_LANGUAGE_BAR), cross.queries))
    false_hints = share(bool(answer.hints) for answer in off_topic)
    ceiling = Gate("off-topic prompts that get a hint", false_hints, FALSE_HINTS_BAR, is_ceiling=True)
    gates.append((ceiling, len(off_topic)))
    return tuple(gate for gate, queries in gates if queries >= FEWEST_FOR_A_GATE)


# --- baselines ------------------------------------------------------------------------------------------


def _baselines(
    answers: Sequence[Answer], memories: Mapping[str, OpenedMemory], hint_limit: int
) -> tuple[Baseline, ...]:
    return tuple(
        _baseline(name, scorer(memories), answers, hint_limit)
        for name, scorer in (("ripgrep", WordCount), ("BM25 alone", OwnBM25))
    )


def _baseline(name: str, scorer: WordCount | OwnBM25, answers: Sequence[Answer], hint_limit: int) -> Baseline:
    plain = [_plain_answer(scorer, answer, hint_limit) for answer in answers]
    positives = [answer for answer in plain if answer.is_positive]
    silence = share(not answer.hints for answer in plain if not answer.is_positive)
    return Baseline(name, figures(positives, math.ulp(0.0)), silence)


def _plain_answer(scorer: WordCount | OwnBM25, answer: Answer, hint_limit: int) -> Answer:
    """The same query answered by a baseline; of equal scores the relevant memory comes last."""
    scores = scorer.scores(answer.query.text)
    relevant = set(answer.query.relevant)
    ranked = sorted(scores, key=lambda note_id: (-scores[note_id], note_id in relevant, note_id))
    best = max((scores.get(note_id, 0.0) for note_id in relevant), default=0.0)
    return Answer(answer.query, answer.groups, tuple(ranked[:RANKED]), best, tuple(ranked[:hint_limit]))
