"""What answers come to in numbers, which threshold would part them best, which gates they pass."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmem.evaluation.figures import (
    FEWEST_FOR_A_GATE,
    Answered,
    Figures,
    Gate,
    figures,
    find_threshold,
    gates,
    share_of,
)
from vaultmem.evaluation.golden import GoldenQuery, Kind

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=20)
POSITIVE = GoldenQuery("q", ("a", "b"), Kind.POSITIVE, "en")
NEGATIVE = GoldenQuery("q", (), Kind.NEGATIVE, "en", "foreign")


def test_figures_are_those_of_the_textbook() -> None:
    query = GoldenQuery("q", ("a", "b"), Kind.POSITIVE, "en")
    found = figures([Answered(query, (), ("x", "a", "y", "b"), 0.7, ("x",))], 0.5)
    assert (found.recall_1, found.recall_5, found.mrr_10) == (0, 1, 0.5)
    assert found.ndcg_10 == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3)))
    assert found.found == 1 and found.shown == 0


def test_the_figures_of_nothing_are_no_numbers() -> None:
    nothing = figures([], 0.5)
    assert nothing.queries == 0 and math.isnan(nothing.recall_1) and math.isnan(nothing.shown)


def test_a_rank_is_that_of_the_first_relevant_memory() -> None:
    assert Answered(POSITIVE, (), ("x", "b", "a"), 0.7, ()).rank == 2
    assert Answered(POSITIVE, (), ("x", "y"), 0.0, ()).rank is None


def test_an_answer_is_right_when_it_shows_a_relevant_memory_or_has_none_to_show() -> None:
    assert Answered(POSITIVE, (), ("a",), 0.7, ("x", "b")).is_right
    assert not Answered(POSITIVE, (), ("a",), 0.7, ("x",)).is_right
    assert Answered(NEGATIVE, (), ("x",), 0.3, ()).is_right
    assert not Answered(NEGATIVE, (), ("x",), 0.7, ("x",)).is_right


def test_the_share_of_no_facts_is_no_number() -> None:
    assert share_of([True, False, True, True]) == 0.75
    assert math.isnan(share_of([]))


# --- thresholds


def test_scores_that_lie_apart_have_a_best_threshold_and_no_overlap() -> None:
    threshold = find_threshold([0.6, 0.7, 0.8], [0.1, 0.2, 0.3], 0.5)
    assert threshold.best is not None and 0.3 < threshold.best <= 0.6
    assert threshold.overlap == 0 and threshold.overlap_range is None and not threshold.is_inside_overlap


def test_no_threshold_is_advised_where_hits_and_strangers_are_mixed() -> None:
    threshold = find_threshold([0.3, 0.4, 0.5, 0.6], [0.3, 0.4, 0.5, 0.6], 0.45)
    assert threshold.best is None and "overlap too much" in threshold.reason
    assert threshold.is_inside_overlap


def test_without_off_topic_negatives_nothing_is_advised() -> None:
    assert find_threshold([0.5], [], 0.5).best is None


@settings(deadline=None)
@given(SCORES, SCORES, st.floats(0, 1))
def test_no_other_threshold_parts_hits_and_strangers_better(
    hits: list[float], strangers: list[float], other: float
) -> None:
    def accuracy(threshold: float) -> float:
        kept, silent = share_of(h >= threshold for h in hits), share_of(s < threshold for s in strangers)
        return (kept + silent) / 2

    found = find_threshold(hits, strangers, 0.5)
    assert found.accuracy >= accuracy(other) - 1e-9
    assert found.overlap == pytest.approx(2 - 2 * found.accuracy)
    if found.best is not None:
        assert accuracy(found.best) == pytest.approx(found.accuracy)


# --- gates


def of(queries: int, share: float) -> Figures:
    return Figures(queries, *[share] * 7)


def test_a_gate_on_too_few_queries_is_left_out() -> None:
    silent = [Answered(NEGATIVE, (), (), 0.1, ())] * FEWEST_FOR_A_GATE
    enough, few = of(FEWEST_FOR_A_GATE, 1.0), of(FEWEST_FOR_A_GATE - 1, 1.0)
    assert len(gates(enough, {"same": enough, "cross": enough}, silent)) == 4
    assert len(gates(enough, {"same": few, "cross": few}, silent[1:])) == 1
    assert len(gates(enough, {}, silent)) == 2


def test_false_hints_have_a_ceiling_and_the_others_a_bar() -> None:
    hinted = [Answered(NEGATIVE, (), ("x",), 0.9, ("x",))] * FEWEST_FOR_A_GATE
    *others, ceiling = gates(of(20, 0.0), {"same": of(20, 0.0)}, hinted)
    assert (ceiling.value, ceiling.is_ceiling, ceiling.holds) == (1.0, True, False)
    assert len(others) == 2 and not any(gate.holds or gate.is_ceiling for gate in others)


@pytest.mark.parametrize("is_ceiling", [True, False])
def test_a_gate_holds_at_its_bar_and_never_without_a_number(is_ceiling: bool) -> None:
    assert Gate("g", 0.5, 0.5, is_ceiling).holds
    assert not Gate("g", math.nan, 0.5, is_ceiling).holds
