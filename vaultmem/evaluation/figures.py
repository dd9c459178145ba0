"""Figures: what a golden set's answers come to, which threshold would part them best, which gates they pass. Pure.

Ranking figures come from `ir_measures`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from vaultmem.errors import EngineError
from vaultmem.evaluation.golden import GoldenQuery, Kind
from vaultmem.recall.scoring import Signals

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


@dataclass(frozen=True, slots=True)
class Answered:
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


def figures(positives: Sequence[Answered], min_score: float) -> Figures:
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
    found = share_of(answer.score >= min_score for answer in positives)
    shown = share_of(answer.is_right for answer in positives)
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


def share_of(facts: Iterable[bool]) -> float:
    """The share of facts that hold; NaN of none."""
    counted = list(facts)
    return sum(counted) / len(counted) if counted else math.nan


def gates(overall: Figures, groups: Mapping[str, Figures], off_topic: Sequence[Answered]) -> tuple[Gate, ...]:
    """The gates of one set; those on too few queries are left out."""
    same, cross = groups.get("same"), groups.get("cross")
    found = [(Gate("relevant memories at or above the threshold", overall.found, FOUND_BAR), overall.queries)]
    if same:
        found.append((Gate("recall@5 within a language", same.recall_5, RECALL_5_BAR), same.queries))
    if cross:
        found.append((Gate("recall@1 across languages", cross.recall_1, CROSS_LANGUAGE_BAR), cross.queries))
    false_hints = share_of(bool(answer.hints) for answer in off_topic)
    ceiling = Gate("off-topic prompts that get a hint", false_hints, FALSE_HINTS_BAR, is_ceiling=True)
    found.append((ceiling, len(off_topic)))
    return tuple(gate for gate, queries in found if queries >= FEWEST_FOR_A_GATE)
