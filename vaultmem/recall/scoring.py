"""Signals → score: every constant of recall, and the arithmetic between them. Pure.

    score = clip01( (0.7 · dense + 0.3 · bm25) / (weights of the signals that exist) + Σ bonus )

`dense` and `bm25` are calibrated to 0..1 so that a memory exactly at the dense threshold scores 0.5 without
any lexical evidence, and lexical evidence only ever adds. `docs/recall.md` tells where each constant comes
from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

DEFAULT_MIN_SCORE = 0.5
"""A memory that scores less is no hint."""

DENSE_WEIGHT = 0.7
LEXICAL_WEIGHT = 0.3

LEXICAL_CANDIDATES = 50
"""Memories that the lexical store proposes."""
DENSE_CANDIDATES = 100
"""Texts that the dense store proposes for each window: it ranks by cosine, which favours the query's language."""
MOST_WINDOWS = 4
"""Windows of a prompt that are read, which bounds the time that embedding takes."""
WINDOW_CHARS = 600
"""Longest window: well under the 512 tokens that the bundled model sees, in either language."""
PROMPT_CHARS = 60_000
"""Of a longer prompt the middle is left out."""
SHORT_NUMBER = 2
"""A number of so many digits (a choice from a list) says nothing."""

BODY_WEIGHTS = (0.65, 0.25, 0.10)
"""Of the best body chunks of a note; renormalised when it has fewer."""

DENSE_THRESHOLD = 0.76
"""Likeness from which a memory is worth a hint, in a vault of REFERENCE_SIZE memories; see `calibration`."""
SIZE_SLOPE = 0.07
"""Growth of the threshold with ln(memories): the best of many strangers looks better than the best of few."""
REFERENCE_SIZE = 200
SMALLEST_SIZE = 10
DENSE_RANGE = 0.33
"""Likeness above the threshold within which tanh saturates."""
AT_THRESHOLD = DEFAULT_MIN_SCORE / DENSE_WEIGHT
"""Calibrated dense value at the threshold: 5/7, so that 0.7 · 5/7 = 0.5."""

K1 = 1.2
B = 0.75
LEXICAL_FLOOR = 0.1
"""Share of the attainable BM25 that a memory shares with a query by chance."""
LEXICAL_ALONE_THRESHOLD = 0.24
"""Share of the attainable BM25 that is worth a hint when there are no vectors, in a vault of REFERENCE_SIZE."""
LEXICAL_ALONE_SLOPE = 0.04
"""Its growth with ln(memories)."""

EXACT_IDENTIFIER = 0.5
"""Least score of a memory that carries an identifier which the prompt names: with it alone a hint."""
COVERAGE_SHARE = 0.5
"""Of the order among such memories: by how many of the names they carry, the rest by their signals."""
MOST_CARRIERS = 5
"""An identifier in more memories than this tells none of them apart."""
CARRIER_SHARE = 0.1
"""Nor does one that more than this share of the memories carry (a small vault)."""
MANY_IDENTIFIERS = 8
"""A prompt that names more (a log, a diff) is about none in particular: a memory must carry two of them."""
NAME_CHARS = 4
"""Characters of an unmarked Chinese name; shorter runs are too often ordinary words."""
MOST_NAME_CARRIERS = 3
WEAK_LIKENESS = 0.5
"""Share of the dense threshold that a memory must reach for a weak identifier to count …"""
WEAK_COVERAGE = 1 / 3
"""… and share of the prompt's terms, by how telling they are, that it must hold: a name in passing, among many
other words, is no subject."""

PROJECT_BONUS = 0.03
RECENCY_BONUS = 0.02
RECENCY_DAYS = 30
"""Age at which the recency bonus has shrunk to nothing."""
BONUS_RANGE = 0.1
"""Score above the threshold over which these two grow from nothing to their full size: they order hints and
make none."""


class Verdict(StrEnum):
    """What became of a candidate. `DEPRECATED` stands for every status that is not active."""

    HINTED = "hinted"
    BELOW_THRESHOLD = "below_threshold"
    OVER_LIMIT = "over_limit"
    SUPPRESSED = "suppressed"
    DEPRECATED = "deprecated"
    CONFLICT = "conflict"
    NO_DESCRIPTION = "no_description"


@dataclass(frozen=True, slots=True)
class ChunkSignal:
    """A body chunk that took part in a score: its centred cosine, likeness and weight in `dense_body`."""

    text: str
    heading: str
    line_start: int
    line_end: int
    cosine: float
    weight: float
    likeness: float = 0.0


@dataclass(frozen=True, slots=True)
class Signals:
    """The parts of a score. `dense` and `bm25` are calibrated; None means that the signal was not to be had.

    `dense_metadata` and `dense_body` are likenesses: 0 is what strangers have, 1 a typical hit, and more is more;
    `dense_body` is the sum of its chunks' likenesses by weight. `terms` are the query's terms found in the note.
    """

    dense_metadata: float | None = None
    dense_body: float | None = None
    dense: float | None = None
    bm25: float | None = None
    bonus: Mapping[str, float] = field(default_factory=dict)
    chunks: tuple[ChunkSignal, ...] = ()
    terms: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """What the signals add up to, 0..1."""
        return total(self.dense, self.bm25, self.bonus.values())


def share_of_small_bonuses(base: float) -> float:
    """How much of the project and recency bonuses a memory gets: none below the threshold, all well above."""
    return min(1.0, max(0.0, (base - DEFAULT_MIN_SCORE) / BONUS_RANGE))


def recency(age_days: float) -> float:
    """The full recency bonus at an age: largest when new, nothing from RECENCY_DAYS on."""
    return RECENCY_BONUS * min(1.0, max(0.0, 1 - max(0.0, age_days) / RECENCY_DAYS))


def total(dense: float | None, bm25: float | None, bonuses: Iterable[float] = ()) -> float:
    """The score of calibrated signals and bonuses, clipped to 0..1; 0 when no signal exists."""
    weighted = [(w, s) for w, s in ((DENSE_WEIGHT, dense), (LEXICAL_WEIGHT, bm25)) if s is not None]
    base = sum(w * s for w, s in weighted) / sum(w for w, _ in weighted) if weighted else 0.0
    return min(1.0, max(0.0, base + sum(bonuses)))


# --- dense


def body_weights(chunks: int) -> tuple[float, ...]:
    """The weights of the best `chunks` body chunks: at most three, and they sum to 1."""
    return _RENORMALISED[min(chunks, len(BODY_WEIGHTS))]


_RENORMALISED = tuple(
    tuple(weight / sum(BODY_WEIGHTS[:chunks]) for weight in BODY_WEIGHTS[:chunks])
    for chunks in range(len(BODY_WEIGHTS) + 1)
)


def dense_threshold(memories: int, windows: int = 1) -> float:
    """The likeness worth a hint among `memories` when a query is read in `windows` windows."""
    tries = max(memories, SMALLEST_SIZE) * windows
    return DENSE_THRESHOLD + SIZE_SLOPE * math.log(tries / REFERENCE_SIZE)


def calibrated_dense(likeness: float, threshold: float) -> float:
    """Likeness → 0..1: linear up to the threshold (5/7 there), then towards 1 by tanh."""
    if likeness < threshold:
        return max(0.0, likeness) / threshold * AT_THRESHOLD
    return AT_THRESHOLD + (1 - AT_THRESHOLD) * math.tanh((likeness - threshold) / DENSE_RANGE)


def dense_alone(dense: float) -> float:
    """The dense signal where no lexical signal exists: the score it would have without a matching word."""
    return DENSE_WEIGHT * dense


# --- lexical


def inverse_frequency(documents: int, frequency: int) -> float:
    """How telling a term in `frequency` of `documents` is (Robertson and Sparck Jones, never below 0)."""
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def bm25(counts: Mapping[str, int], length: int, average_length: float, idf: Mapping[str, float]) -> float:
    """Okapi BM25 of a document's `counts` of query terms; `length` is in terms."""
    norm = K1 * (1 - B + B * length / average_length) if average_length else K1
    return sum(idf[term] * count * (K1 + 1) / (count + norm) for term, count in counts.items() if term in idf)


def attainable(idf: Iterable[float]) -> float:
    """The BM25 that no document can exceed for a query with these terms."""
    return (K1 + 1) * sum(idf)


def calibrated_lexical(share: float) -> float:
    """Share of the attainable BM25 → 0..1; what words share by chance counts nothing."""
    return min(1.0, max(0.0, share - LEXICAL_FLOOR) / (1 - LEXICAL_FLOOR))


def lexical_threshold(memories: int, windows: int = 1) -> float:
    """The share of the attainable BM25 worth a hint where no dense signal exists, see `dense_threshold`."""
    tries = max(memories, SMALLEST_SIZE) * windows
    return min(0.9, LEXICAL_ALONE_THRESHOLD + LEXICAL_ALONE_SLOPE * math.log(tries / REFERENCE_SIZE))


def lexical_alone(share: float, threshold: float) -> float:
    """The lexical signal where no dense one exists: 0.5 at the threshold, 1 at the attainable."""
    if share < threshold:
        return DEFAULT_MIN_SCORE * max(0.0, share) / threshold
    return DEFAULT_MIN_SCORE + (1 - DEFAULT_MIN_SCORE) * min(1.0, (share - threshold) / (1 - threshold))
