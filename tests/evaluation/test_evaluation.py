"""Evaluation over an engine whose answers are known."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from tests.evaluation.known import KnownEngine, golden, measured
from vaultmem.errors import EngineError
from vaultmem.evaluation.evaluation import EvaluationError, evaluate
from vaultmem.evaluation.golden import GoldenSet


def test_a_perfect_engine_gets_perfect_figures() -> None:
    evaluation = measured()
    assert evaluation.figures.recall_1 == evaluation.figures.mrr_10 == evaluation.figures.ndcg_10 == 1
    assert evaluation.figures.found == evaluation.figures.shown == evaluation.hint_precision == 1
    assert evaluation.silence == 1 and evaluation.misses == () and evaluation.passes


def test_a_memory_below_the_threshold_is_ranked_but_not_found() -> None:
    evaluation = measured(golden_set=golden(score="@0.3"))
    assert evaluation.figures.recall_1 == 1 and evaluation.figures.found == 0
    assert not evaluation.passes and len(evaluation.misses) == 12


def test_languages_are_told_apart_by_pair() -> None:
    evaluation = measured()
    assert set(evaluation.languages) == {"same", "cross", "en>zh", "en>en", "zh>zh", "zh>en"}
    assert sum(evaluation.languages[group].queries for group in ("same", "cross")) == 12


def test_a_query_that_raises_is_an_error_and_never_a_pass() -> None:
    with pytest.raises(EvaluationError, match="tell me m3"):
        measured(KnownEngine(wrong=lambda query: "m3" in query))


def test_without_the_extra_no_query_is_asked_and_the_way_to_it_is_told(monkeypatch) -> None:
    asked: list[str] = []
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(EngineError, match="extra `eval`") as raised:
        measured(KnownEngine(wrong=lambda query: bool(asked.append(query))))
    assert asked == [] and "pip install 'march-vaultmem[eval]'" in raised.value.advice
    assert raised.value.exit_code == 3


def test_progress_is_told_after_every_query() -> None:
    told: list[tuple[int, int]] = []
    evaluate(KnownEngine(), golden(), min_score=0.5, hint_limit=3, progress=lambda *at: told.append(at))
    assert told == [(done, 24) for done in range(1, 25)]


def test_missed_memories_come_before_false_hints_the_worst_first() -> None:
    engine = KnownEngine()
    asked = golden(score="@0.3")
    queries = list(asked.queries)
    queries[0] = replace(queries[0], text="tell me m0@0.1")
    queries[-1] = replace(queries[-1], text="near m5@0.8")
    misses = measured(engine, GoldenSet(tuple(queries))).misses
    assert (misses[0].query.text, misses[-1].query.text) == ("tell me m0@0.1", "near m5@0.8")
    assert len(misses) == 13


def test_negatives_are_told_apart_by_their_type() -> None:
    queries = list(golden().queries)
    queries[-1] = replace(queries[-1], text="near m5", negative_type="near")
    evaluation = measured(golden_set=GoldenSet(tuple(queries)))
    assert evaluation.false_hints == {"foreign": 0, "near": 1}
    assert evaluation.silence == pytest.approx(11 / 12)
