"""An evaluation for people."""

from __future__ import annotations

import math

import pytest

from tests.evaluation.known import KnownEngine, golden, measured
from vaultmem.evaluation.figures import Answered, Gate, Threshold
from vaultmem.evaluation.golden import GoldenQuery, Kind
from vaultmem.evaluation.proposals import propose_golden
from vaultmem.evaluation.report import (
    BAR_WIDTH,
    BINS,
    MOST_MISSES,
    gate_line,
    histogram_lines,
    miss_lines,
    report_lines,
    score_bins,
    signal_words,
    table_lines,
    threshold_lines,
)
from vaultmem.recall.scoring import Signals


def test_the_report_shows_figures_threshold_misses_and_gates() -> None:
    text = "\n".join(report_lines(measured(golden_set=golden(score="@0.3"))))
    for part in (
        "R@1",
        "ripgrep",
        "BM25 alone",
        "threshold in force 0.50",
        "missed 0.30, rank 1",
        "SHORT",
        "dense=",
    ):
        assert part in text


def test_a_set_that_nobody_reviewed_is_said_to_flatter() -> None:
    engine = KnownEngine()
    proposed = propose_golden(engine)
    *_, last = report_lines(measured(engine, proposed))
    count = len(proposed.queries)
    assert last.startswith(f"note  {count} of {count} queries are proposals that nobody reviewed")


def test_the_columns_of_the_table_stand_under_each_other() -> None:
    head, *rows = list(table_lines(measured()))[:-2]
    assert head.split() == ["queries", "R@1", "R@5", "R@10", "MRR", "nDCG", "found", "shown", "silence"]
    end = head.index("R@1") + len("R@1")
    assert [row[:2] for row in rows] == ["re", *["  "] * (len(rows) - 3), "ri", "BM"]
    assert all(row[end - 5 : end].strip().count(".") == 1 for row in rows)


def test_the_fullest_bin_has_the_longest_bar() -> None:
    evaluation = measured()
    head, *bars = histogram_lines(evaluation)
    assert "relevant memories" in head and len(bars) == BINS
    assert max(bar.count("█") for bar in bars) == BAR_WIDTH
    (marked,) = [bar for bar in bars if "threshold in force 0.50" in bar]
    assert "  0.50 " in marked


def test_every_answer_that_counts_falls_into_one_bin() -> None:
    evaluation = measured(golden_set=golden(score="@1.0"))
    hits, strangers = score_bins(evaluation)
    assert (hits[-1], sum(hits), sum(strangers)) == (12, 12, 12)


@pytest.mark.parametrize(
    ("threshold", "words"),
    [
        (Threshold(0.5, None, math.nan, math.nan, None, "because"), "no threshold is advised: because"),
        (Threshold(0.5, 0.6, 1.0, 0.0, None), "best for this set: 0.60; hits and strangers lie apart"),
        (Threshold(0.5, 0.6, 0.9, 0.2, (0.4, 0.7)), "mix from 0.40 to 0.70, and the one in force lies in it"),
        (Threshold(0.3, 0.6, 0.9, 0.2, (0.4, 0.7)), "mix from 0.40 to 0.70"),
    ],
)
def test_a_threshold_is_told_with_what_speaks_against_it(threshold: Threshold, words: str) -> None:
    first, second = threshold_lines(threshold)
    assert f"threshold {threshold.current:.2f} in force" in first
    assert second.endswith(words)


def test_a_miss_says_how_far_it_was() -> None:
    positive = GoldenQuery("where\x1b is it", ("m1",), Kind.POSITIVE, "en")
    negative = GoldenQuery("off topic", (), Kind.NEGATIVE, "en", "foreign")
    misses = [
        Answered(positive, (), (), 0.0, ()),
        Answered(positive, (), ("x", "m1"), 0.31, (), "m1", Signals(dense=0.4, bm25=0.1)),
        Answered(positive, (), ("x",), 0.2, (), "m1"),
        Answered(negative, (), ("m2",), 0.7, ("m2",), "m2"),
    ]
    lines = list(miss_lines(misses))
    assert lines[0] == "worst of 4 misses"
    assert [line.strip() for line in lines[1::2]] == [
        "not found at all: where is it",
        "missed 0.31, rank 2: where is it",
        "missed 0.20, not ranked: where is it",
        "false hint 0.70: off topic",
    ]
    assert lines[4] == "      m1  dense=0.40 bm25=0.10"
    assert lines[8] == "      m2  not among the candidates"


def test_the_worst_misses_are_shown_and_all_are_counted() -> None:
    miss = Answered(GoldenQuery("q", ("m1",), Kind.POSITIVE, "en"), (), (), 0.0, ())
    lines = list(miss_lines([miss] * 30))
    assert lines[0] == "worst of 30 misses" and len(lines) == 1 + 2 * MOST_MISSES
    assert list(miss_lines([])) == ["no misses"]


def test_the_parts_of_a_score_are_named_with_its_words() -> None:
    signals = Signals(0.9, None, 0.7, 0.25, {"project": 0.03}, (), ("cache", "order"))
    assert signal_words(signals) == "dense=0.70 bm25=0.25 metadata=0.90 project=0.03 words: cache order"


def test_a_gate_is_told_with_its_bar() -> None:
    assert gate_line(Gate("recall", 0.9, 0.8)) == "ok    recall: 0.900 (>= 0.80)"
    assert gate_line(Gate("noise", 0.9, 0.2, is_ceiling=True)) == "SHORT noise: 0.900 (<= 0.20)"
    assert gate_line(Gate("recall", math.nan, 0.8)) == "SHORT recall: - (>= 0.80)"
