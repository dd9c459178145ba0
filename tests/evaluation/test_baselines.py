"""Two simpler ways to answer a query."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from vaultmem.evaluation.baselines import OwnBM25, WordCount, baselines
from vaultmem.evaluation.figures import Answered
from vaultmem.evaluation.golden import GoldenQuery, Kind


def memory(name: str, body: str, *tags: str) -> Any:
    return SimpleNamespace(name=name, description="", tags=tags, body=body)


MEMORIES = {
    "lock": memory("sqlite lock", "the database is locked and locked again"),
    "cache": memory("Cache", "the prefix cache", "project/ＤＡＴＡＢＡＳＥ"),
    "other": memory("garden", "water the plants"),
}


def asked(text: str, *relevant: str) -> Answered:
    kind = Kind.POSITIVE if relevant else Kind.NEGATIVE
    return Answered(GoldenQuery(text, relevant, kind, "en"), (), (), 0.0, ())


def test_more_different_words_come_before_more_matches() -> None:
    scores = WordCount(MEMORIES).scores("sqlite database locked")
    assert scores == {"lock": pytest.approx(3 + 4e-6), "cache": pytest.approx(1 + 1e-6)}


def test_words_are_counted_in_all_of_a_note_whatever_their_width_and_case() -> None:
    assert WordCount(MEMORIES).scores("Database").keys() == {"lock", "cache"}
    assert WordCount(MEMORIES).scores("x") == {}, "a single letter is in too much"


def test_a_rarer_word_counts_more_in_bm25() -> None:
    scores = OwnBM25(MEMORIES).scores("database plants")
    assert scores["other"] > scores["cache"] > 0
    assert OwnBM25(MEMORIES).scores("nowhere") == OwnBM25({}).scores("database") == {}


def test_any_match_is_a_hint_so_neither_is_silent() -> None:
    answers = [asked("sqlite lock", "lock"), asked("plants on the moon"), asked("eiffel tower")]
    ripgrep, bm25 = baselines(answers, MEMORIES, 3)
    assert (ripgrep.name, bm25.name) == ("ripgrep", "BM25 alone")
    for baseline in (ripgrep, bm25):
        assert (baseline.figures.queries, baseline.figures.recall_1, baseline.figures.found) == (1, 1, 1)
        assert baseline.silence == 0.5


def test_of_equal_scores_the_relevant_memory_comes_last() -> None:
    twins = {name: memory("twin", "same words") for name in ("a", "b", "c")}
    (ripgrep, _) = baselines([asked("same words", "a")], twins, 3)
    assert ripgrep.figures.mrr_10 == pytest.approx(1 / 3)
