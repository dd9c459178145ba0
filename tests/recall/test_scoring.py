from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmem.recall import scoring
from vaultmem.recall.scoring import Signals

UNIT = st.floats(0, 1)
LIKENESS = st.floats(0, 3)
MEMORIES = st.integers(0, 1_000_000)


def test_a_memory_at_the_dense_threshold_scores_one_half_without_a_word() -> None:
    threshold = scoring.dense_threshold(200)
    assert scoring.total(scoring.calibrated_dense(threshold, threshold), 0.0) == pytest.approx(0.5)


def test_a_memory_at_the_threshold_scores_one_half_in_every_mode() -> None:
    threshold = scoring.dense_threshold(500)
    at = scoring.calibrated_dense(threshold, threshold)
    assert scoring.total(scoring.dense_alone(at), None) == pytest.approx(0.5)
    alone = scoring.lexical_threshold(500)
    assert scoring.total(None, scoring.lexical_alone(alone, alone)) == pytest.approx(0.5)


def test_weights_are_those_of_the_signals_that_exist() -> None:
    assert scoring.total(0.4, 0.8) == pytest.approx(0.7 * 0.4 + 0.3 * 0.8)
    assert scoring.total(None, 0.8) == pytest.approx(0.8)
    assert scoring.total(0.4, None) == pytest.approx(0.4)
    assert scoring.total(None, None) == 0


def test_bonuses_add_up_and_the_score_is_clipped() -> None:
    assert Signals(dense=0.5, bm25=0.5, bonus={"a": 0.2, "b": 0.1}).score == pytest.approx(0.8)
    assert Signals(dense=1.0, bm25=1.0, bonus={"a": 0.5}).score == 1
    assert Signals(dense=0.0, bm25=0.0, bonus={"a": -0.5}).score == 0


def test_body_weights_are_renormalised_for_short_notes() -> None:
    assert scoring.body_weights(1) == (1.0,)
    assert scoring.body_weights(2) == pytest.approx((0.65 / 0.9, 0.25 / 0.9))
    assert scoring.body_weights(7) == pytest.approx((0.65, 0.25, 0.10))


def test_the_threshold_grows_slowly_with_the_vault_and_with_windows() -> None:
    sizes = [scoring.dense_threshold(n) for n in (10, 100, 1_000, 10_000)]
    assert sizes == sorted(sizes) and sizes[-1] < 1.1
    assert scoring.dense_threshold(0) == scoring.dense_threshold(10)
    assert scoring.dense_threshold(100, windows=4) == pytest.approx(scoring.dense_threshold(400))


def test_bm25_is_that_of_the_textbook() -> None:
    idf = {"a": 2.0, "b": 1.0}
    expected = 2.0 * 3 * 2.2 / (3 + 1.2 * (0.25 + 0.75 * 2))
    assert scoring.bm25({"a": 3, "c": 9}, 200, 100.0, idf) == pytest.approx(expected)


def test_no_document_exceeds_the_attainable() -> None:
    idf = {"a": 2.0, "b": 1.0}
    assert scoring.bm25({"a": 10**6, "b": 10**6}, 1, 100.0, idf) <= scoring.attainable(idf.values())


def test_small_bonuses_never_lift_a_memory_to_the_threshold() -> None:
    assert scoring.share_of_small_bonuses(0.4999) == 0
    assert scoring.share_of_small_bonuses(0.55) == pytest.approx(0.5)
    assert scoring.share_of_small_bonuses(0.9) == 1


def test_recency_fades_to_nothing() -> None:
    assert scoring.recency(0) == scoring.RECENCY_BONUS == scoring.recency(-5)
    assert scoring.recency(scoring.RECENCY_DAYS) == 0 == scoring.recency(10_000)


@given(LIKENESS, LIKENESS, MEMORIES)
def test_more_likeness_never_scores_less(a: float, b: float, memories: int) -> None:
    threshold = scoring.dense_threshold(memories)
    low, high = (scoring.calibrated_dense(x, threshold) for x in sorted((a, b)))
    assert 0 <= low <= high <= 1


@given(UNIT, UNIT, UNIT)
def test_lexical_evidence_never_lowers_a_score(dense: float, a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert scoring.total(dense, scoring.calibrated_lexical(low)) <= scoring.total(
        dense, scoring.calibrated_lexical(high)
    )


@given(UNIT, UNIT, MEMORIES)
def test_lexical_alone_is_monotonous(a: float, b: float, memories: int) -> None:
    threshold = scoring.lexical_threshold(memories, windows=4)
    low, high = (scoring.lexical_alone(x, threshold) for x in sorted((a, b)))
    assert 0 <= low <= high <= 1


@given(st.integers(1, 10**6), st.data())
def test_a_rarer_term_tells_more(documents: int, data: st.DataObject) -> None:
    a, b = sorted(data.draw(st.tuples(st.integers(0, documents), st.integers(0, documents))))
    assert scoring.inverse_frequency(documents, a) >= scoring.inverse_frequency(documents, b) > 0
    assert math.isfinite(scoring.inverse_frequency(documents, a))
