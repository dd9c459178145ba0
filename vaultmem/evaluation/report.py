"""An evaluation as lines of text: a table, a histogram with the threshold, the worst misses, changes. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from vaultmem.evaluation.evaluation import Evaluation
from vaultmem.evaluation.figures import Answered, Figures, Gate, Threshold
from vaultmem.evaluation.golden import Kind
from vaultmem.evaluation.record import Comparison, QueryChange
from vaultmem.recall.scoring import Signals
from vaultmem.text.shown import harmless

BINS = 20
BAR_WIDTH = 30
QUERY_WIDTH = 60
MOST_MISSES = 10
MOST_CHANGES = 15

_HEAD = ("", "queries", "R@1", "R@5", "R@10", "MRR", "nDCG", "found", "shown", "silence")


def report_lines(evaluation: Evaluation) -> Iterator[str]:
    """The whole report."""
    yield from table_lines(evaluation)
    yield ""
    yield from histogram_lines(evaluation)
    yield ""
    yield from threshold_lines(evaluation.threshold)
    yield ""
    yield from miss_lines(evaluation.misses)
    yield ""
    yield from map(gate_line, evaluation.gates)
    if evaluation.golden.unreviewed:
        count = evaluation.golden.unreviewed
        yield (
            f"note  {count} of {len(evaluation.golden.queries)} queries are proposals that nobody reviewed: "
            "they use the notes' own words, so the figures flatter"
        )


def table_lines(evaluation: Evaluation) -> Iterator[str]:
    """The figures, by language pair below, the baselines last."""
    rows = [_row("recall", evaluation.figures, evaluation.silence)]
    rows += [_row(f"  {group}", figures) for group, figures in evaluation.languages.items()]
    rows += [_row(base.name, base.figures, base.silence) for base in evaluation.baselines]
    yield from _aligned([_HEAD, *rows])
    yield "found: a right memory reaches the threshold; shown: it is among the hints; silence: negatives without a hint"
    kinds = ", ".join(f"{kind} {_number(value)}" for kind, value in evaluation.false_hints.items())
    yield f"hint precision {_number(evaluation.hint_precision)}; negatives with a hint: {kinds}"


def histogram_lines(evaluation: Evaluation) -> Iterator[str]:
    """Scores of relevant memories and of the best memory of each off-topic negative, side by side."""
    hits, strangers = score_bins(evaluation)
    most = max(*hits, *strangers, 1)
    yield f"{'relevant memories':>{BAR_WIDTH}}  score  best for an off-topic prompt"
    for number in reversed(range(BINS)):
        low, high = number / BINS, (number + 1) / BINS
        left, right = ("█" * math.ceil(BAR_WIDTH * n / most) for n in (hits[number], strangers[number]))
        mark = _threshold_mark(evaluation.threshold, low, high)
        yield f"{left:>{BAR_WIDTH}}  {low:.2f}   {right}{mark}".rstrip()


def score_bins(evaluation: Evaluation) -> tuple[list[int], list[int]]:
    """How many relevant memories, and how many best memories of off-topic negatives, score in each bin of 0..1."""
    hits, strangers = [0] * BINS, [0] * BINS
    for answer in evaluation.answers:
        counts = hits if answer.is_positive else strangers if answer.query.is_off_topic else None
        if counts is not None:
            counts[min(BINS - 1, int(answer.score * BINS))] += 1
    return hits, strangers


def _threshold_mark(threshold: Threshold, low: float, high: float) -> str:
    marks = [("threshold in force", threshold.current), ("best for this set", threshold.best)]
    named = [f"{name} {value:.2f}" for name, value in marks if value is not None and low <= value < high]
    return f"  ◄ {', '.join(named)}" if named else ""


def threshold_lines(threshold: Threshold) -> Iterator[str]:
    """What the scores say about the threshold, or why they say nothing."""
    yield (
        f"threshold {threshold.current:.2f} in force; balanced accuracy of the best one {_number(threshold.accuracy)}; "
        f"overlap {_number(threshold.overlap)}"
    )
    if threshold.best is None:
        yield f"no threshold is advised: {threshold.reason}"
    elif threshold.overlap_range is None:
        yield f"best for this set: {threshold.best:.2f}; hits and strangers lie apart"
    else:
        low, high = threshold.overlap_range
        inside = ", and the one in force lies in it" if threshold.is_inside_overlap else ""
        yield f"best for this set: {threshold.best:.2f}; hits and strangers mix from {low:.2f} to {high:.2f}{inside}"


def miss_lines(misses: Sequence[Answered], most: int = MOST_MISSES) -> Iterator[str]:
    """The worst misses with the signals of the memory in question."""
    if not misses:
        yield "no misses"
        return
    yield f"worst of {len(misses)} misses"
    for answer in misses[:most]:
        yield f"  {_miss(answer)}: {_short(answer.query.text)}"
        shown = ", ".join(answer.query.relevant) if answer.is_positive else answer.best_id or ""
        yield f"      {harmless(shown)}  {signal_words(answer.signals)}"


def _miss(answer: Answered) -> str:
    if not answer.is_positive:
        return f"false hint {answer.score:.2f}"
    if answer.best_id is None:
        return "not found at all"
    place = f"rank {answer.rank}" if answer.rank else "not ranked"
    return f"missed {answer.score:.2f}, {place}"


def signal_words(signals: Signals | None) -> str:
    """The parts of a score in a few words."""
    if signals is None:
        return "not among the candidates"
    parts = {
        "dense": signals.dense,
        "bm25": signals.bm25,
        "metadata": signals.dense_metadata,
        "body": signals.dense_body,
        **signals.bonus,
    }
    words = " ".join(f"{name}={value:.2f}" for name, value in parts.items() if value is not None)
    return words + (f" words: {' '.join(map(harmless, signals.terms[:8]))}" if signals.terms else "")


def gate_line(gate: Gate) -> str:
    """Whether a gate holds."""
    sign = "<=" if gate.is_ceiling else ">="
    return f"{'ok   ' if gate.holds else 'SHORT'} {gate.name}: {_number(gate.value)} ({sign} {gate.bar:.2f})"


def comparison_lines(comparison: Comparison, most: int = MOST_CHANGES) -> Iterator[str]:
    """What changed since a kept run."""
    moved = {n: pair for n, pair in comparison.figures.items() if pair[0] != pair[1] and n != "positives"}
    yield "since the kept run: " + (", ".join(_moved(moved)) or "the same figures")
    if comparison.only_before or comparison.only_after:
        yield (
            f"the sets differ: {comparison.only_before} queries were asked only then, "
            f"{comparison.only_after} only now"
        )
    yield f"{len(comparison.changes)} queries changed"
    yield from (f"  {_change_words(change)}" for change in comparison.changes[:most])


def _moved(figures: Mapping[str, tuple[float | None, float | None]]) -> Iterator[str]:
    for name, (before, after) in figures.items():
        yield f"{name} {_number(before)} → {_number(after)}"


def _change_words(change: QueryChange) -> str:
    verdict = {(True, False): "worse ", (False, True): "better"}.get(
        (change.was_right, change.is_right), "moved "
    )
    scores = f"{change.score_before:.2f} → {change.score_after:.2f}"
    ranks = (
        f", rank {change.rank_before or '-'} → {change.rank_after or '-'}"
        if change.kind == Kind.POSITIVE
        else ""
    )
    return f"{verdict} {scores}{ranks}: {_short(change.query)}"


def _row(name: str, figures: Figures, silence: float | None = None) -> tuple[str, ...]:
    values = (
        figures.recall_1,
        figures.recall_5,
        figures.recall_10,
        figures.mrr_10,
        figures.ndcg_10,
        figures.found,
        figures.shown,
    )
    return (name, str(figures.queries), *map(_number, values), "" if silence is None else _number(silence))


def _aligned(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    cells = list(rows)
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    for row in cells:
        first, *rest = (
            cell.ljust(w) if n == 0 else cell.rjust(w)
            for n, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join([first, *rest]).rstrip()


def _number(value: float | None) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:.3f}"


def _short(text: str) -> str:
    line = harmless(" ".join(text.split()))
    return line if len(line) <= QUERY_WIDTH else line[: QUERY_WIDTH - 1] + "…"
