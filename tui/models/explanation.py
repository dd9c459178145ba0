"""Why a candidate is hinted or not, in words and with its numbers. Pure: a candidate in, lines out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from tui.looks.formatting import MUTED, bar, highlighted, lines, score_bar
from tui.looks.signs import VERDICTS, sign
from vaultmem.recall.scoring import AT_THRESHOLD, DENSE_WEIGHT, LEXICAL_WEIGHT
from vaultmem.text.shown import harmless

if TYPE_CHECKING:
    from vaultmem.recall.answer import Candidate
    from vaultmem.recall.scoring import ChunkSignal, Signals

STRONG = "bold"
CHUNK_CHARS = 320
LIKENESS_RANGE = 1.25
"""Likeness at which its bar is full."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the candidate was considered for."""

    terms: tuple[str, ...]
    """The prompt's words that can be looked up."""
    min_score: float
    limit: int
    rank: int
    """Place among the candidates that pass everything but the limit; 1 is the best. 0: does not take part."""


def explain(candidate: Candidate, question: Question, width: int) -> Content:
    """The whole explanation, at most `width` cells wide where it draws bars."""
    parts = (
        _headline(candidate, question, width),
        _formula(candidate),
        _changes(candidate, question),
        _dense(candidate.signals, width),
        _lexical(candidate, question),
        _chunks(candidate.signals),
    )
    return Content("\n\n").join([part for part in parts if part])


def _headline(candidate: Candidate, question: Question, width: int) -> Content:
    verdict = sign(VERDICTS, candidate.verdict)
    drawn = score_bar(candidate.score, question.min_score, max(10, min(48, width - 22)), verdict.style)
    return lines(
        [
            Content.styled(harmless(candidate.name) or harmless(candidate.id), STRONG),
            Content.styled(harmless(candidate.id), MUTED),
            Content.assemble(
                drawn,
                "  ",
                (f"{candidate.score:.2f}", STRONG),
                (f"  threshold {question.min_score:.2f}", MUTED),
            ),
            Content.assemble((str(verdict), f"{verdict.style} bold"), "  ", _because(candidate, question)),
        ]
    )


def _because(candidate: Candidate, question: Question) -> str:
    match str(candidate.verdict):
        case "hinted":
            return f"the agent gets this line, as number {question.rank} of at most {question.limit}"
        case "below_threshold":
            return f"{question.min_score - candidate.score:.2f} short of the threshold"
        case "over_limit":
            return f"number {question.rank}, and only {question.limit} are given"
        case "suppressed":
            return "the agent was given this one before"
        case "deprecated":
            return "only a note with status: active is recalled"
        case "conflict":
            return "another note carries the same id"
        case "no_description":
            return "a hint without a description says nothing"
        case other:
            return sign(VERDICTS, other).word


# --- the arithmetic


def _formula(candidate: Candidate) -> Content:
    signals = candidate.signals
    weighted = [
        (weight, value, name)
        for weight, value, name in (
            (DENSE_WEIGHT, signals.dense, "meaning"),
            (LEXICAL_WEIGHT, signals.bm25, "words"),
        )
        if value is not None
    ]
    if not weighted:
        return Content.styled("No signal could be had for this note.", MUTED)
    numbers = " + ".join(f"{weight:.1f} × {value:.3f}" for weight, value, _ in weighted)
    names = " + ".join(f"{weight:.1f} × {name}" for weight, _, name in weighted)
    total_weight = sum(weight for weight, _, _ in weighted)
    if len(weighted) == 1:
        numbers, names = f"({numbers}) ÷ {total_weight:.1f}", f"({names}) ÷ {total_weight:.1f}"
    extra = "".join(f" {'+' if value >= 0 else '−'} {abs(value):.3f}" for value in signals.bonus.values())
    extra_names = "".join(
        f" {'+' if value >= 0 else '−'} {harmless(name)}" for name, value in signals.bonus.items()
    )
    return lines(
        [
            _heading("How the score adds up"),
            Content.styled(f"  score = {names}{extra_names}", MUTED),
            Content.assemble(
                f"        = {numbers}{extra} = ",
                (f"{candidate.score:.3f}", STRONG),
                _clipped(signals, weighted),
            ),
            *_missing(signals),
            *_bonuses(signals),
        ]
    )


def _clipped(signals: Signals, weighted: Sequence[tuple[float, float, str]]) -> tuple[str, str]:
    base = sum(w * v for w, v, _ in weighted) / sum(w for w, _, _ in weighted)
    total = base + sum(signals.bonus.values())
    return (" (kept within 0 and 1)", MUTED) if not 0 <= total <= 1 else ("", "")


def _missing(signals: Signals) -> Iterator[Content]:
    if signals.dense is None:
        yield Content.styled(
            "  no meaning yet: its vectors are pending, or there is no embedding engine", MUTED
        )
    if signals.bm25 is None:
        yield Content.styled("  no words: the lexical index has nothing of it", MUTED)


def _bonuses(signals: Signals) -> Iterator[Content]:
    for name, value in signals.bonus.items():
        yield Content.assemble("  bonus ", (harmless(name).replace("_", " "), STRONG), f" {value:+.3f}")


# --- what would have to change


def _changes(candidate: Candidate, question: Question) -> Content:
    return lines(
        [_heading("What would change it"), *(Content(f"  {text}") for text in _ways(candidate, question))]
    )


def _ways(candidate: Candidate, question: Question) -> list[str]:
    score = f"{candidate.score:.2f}"
    match str(candidate.verdict):
        case "hinted":
            return [f"It drops out at a threshold above {score}, or with a limit under {question.rank}."]
        case "over_limit":
            return [
                f"A limit of {question.rank} or more, or a prompt that is nearer to it than to the others."
            ]
        case "suppressed":
            return ["Nothing now: it is given again in a later run, when the agent may have forgotten it."]
        case "deprecated":
            return ["Make it active (d)." + _also_short(candidate, question)]
        case "conflict":
            return [
                "Resolve the conflict (c): only one note may carry an id." + _also_short(candidate, question)
            ]
        case "no_description":
            return ["Write a description (w)." + _also_short(candidate, question)]
        case _:
            return _ways_to_threshold(candidate.signals, candidate.score, question)


def _also_short(candidate: Candidate, question: Question) -> str:
    if candidate.score >= question.min_score:
        return ""
    return f" Its score would still have to grow by {question.min_score - candidate.score:.2f}."


def _ways_to_threshold(signals: Signals, score: float, question: Question) -> list[str]:
    ways = [f"A threshold of {int(score * 100) / 100:.2f} or less."]
    bonus = sum(signals.bonus.values())
    weights = DENSE_WEIGHT * (signals.dense is not None) + LEXICAL_WEIGHT * (signals.bm25 is not None)
    needed = (question.min_score - bonus) * weights
    dense, words = signals.dense or 0.0, signals.bm25 or 0.0
    if signals.dense is not None:
        ways.append(_way("Meaning", dense, (needed - LEXICAL_WEIGHT * words) / DENSE_WEIGHT))
    if signals.bm25 is not None:
        ways.append(_way("Words", words, (needed - DENSE_WEIGHT * dense) / LEXICAL_WEIGHT))
    unmatched = [term for term in question.terms if term not in signals.terms]
    if unmatched:
        shown = ", ".join(harmless(term) for term in unmatched[:8])
        ways.append(f"These words of the prompt are not in it: {shown}. Its description could name them.")
    return ways


def _way(name: str, value: float, wanted: float) -> str:
    if wanted > 1:
        return f"{name} alone cannot do it: even 1.00 would not be enough."
    return f"{name} of {wanted:.2f} instead of {value:.2f}."


# --- the signals


def _dense(signals: Signals, width: int) -> Content:
    if signals.dense is None:
        return Content("")
    threshold = (f"  {AT_THRESHOLD:.2f} is worth a hint", MUTED)
    best = "metadata" if (signals.dense_metadata or 0) >= (signals.dense_body or 0) else "body"
    return lines(
        [
            Content.assemble(_heading("Meaning"), f"  {signals.dense:.3f}", threshold),
            _signal("metadata", signals.dense_metadata, width),
            _signal("body", signals.dense_body, width),
            Content.styled(f"  the {best} is nearer; 1 is like a typical hit", MUTED),
        ]
    )


def _signal(name: str, value: float | None, width: int) -> Content:
    if value is None:
        return Content.assemble(f"  {name:<9}", ("   —   not there", MUTED))
    drawn = bar(value / LIKENESS_RANGE, max(6, min(24, width - 22)), "$primary")
    return Content.assemble(f"  {name:<9} {value:.3f}  ", drawn)


def _lexical(candidate: Candidate, question: Question) -> Content:
    signals = candidate.signals
    if signals.bm25 is None:
        return Content("")
    rows = [
        Content.assemble(
            _heading("Words"), f"  {signals.bm25:.3f}", ("  BM25, as a share of the best possible", MUTED)
        )
    ]
    rows.append(_terms("in the note", signals.terms, "✓", "$text-success"))
    missing = [term for term in question.terms if term not in signals.terms]
    rows.append(_terms("not in it", missing, "✗", MUTED))
    if candidate.description:
        rows.append(Content("  ") + highlighted(harmless(candidate.description), signals.terms))
    return lines([row for row in rows if row])


def _terms(label: str, terms: Sequence[str], mark: str, style: str) -> Content:
    if not terms:
        return Content("")
    shown = "  ".join(f"{mark} {harmless(term)}" for term in terms[:24])
    more = f"  and {len(terms) - 24} more" if len(terms) > 24 else ""
    return Content.assemble((f"  {label}: ", MUTED), (shown + more, style))


def _chunks(signals: Signals) -> Content:
    if not signals.chunks:
        return Content("")
    return lines(
        [_heading("Nearest chunks of the body"), *(_chunk(chunk, signals) for chunk in signals.chunks)]
    )


def _chunk(chunk: ChunkSignal, signals: Signals) -> Content:
    place = f"lines {chunk.line_start}–{chunk.line_end}"
    heading = [Content.styled(f"  {harmless(chunk.heading)}", MUTED)] if chunk.heading else []
    text = harmless(chunk.text)
    cut = text[:CHUNK_CHARS] + ("…" if len(text) > CHUNK_CHARS else "")
    return lines(
        [
            Content.assemble(
                f"  {chunk.weight:.2f} × {chunk.likeness:.3f}  ",
                bar(chunk.likeness / LIKENESS_RANGE, 10, "$primary"),
                (f"  {place}, cosine {chunk.cosine:.2f}", MUTED),
            ),
            *heading,
            Content("  ") + highlighted(cut, signals.terms),
        ]
    )


def _heading(text: str) -> Content:
    return Content.styled(text, "bold $primary")
