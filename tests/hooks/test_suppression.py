"""Which ids were shown lately: by hand, and the laws that hold for any session."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmem.hooks.suppression import (
    RecentRuns,
    Run,
    begin_run,
    suppressed_for_assistant,
    suppressed_for_user,
    with_hinted,
)

SESSIONS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), max_size=12)
"""The ids that were hinted in each run."""


def after(hinted: list[list[str]], suppression_runs: int) -> RecentRuns:
    recent = RecentRuns()
    for ids in hinted:
        recent = with_hinted(begin_run(recent, suppression_runs), ids)
    return recent


def test_before_the_first_run_nothing_is_held_back() -> None:
    assert RecentRuns().current == Run()
    assert suppressed_for_user(RecentRuns(), 10) == suppressed_for_assistant(RecentRuns()) == frozenset()


@pytest.mark.parametrize(
    ("suppression_runs", "held"),
    [(0, {"d"}), (1, {"c", "d"}), (2, {"b", "c", "d"}), (9, {"a", "b", "c", "d"})],
)
def test_a_user_message_is_not_given_what_this_run_and_so_many_before_it_were(
    suppression_runs: int, held: set[str]
) -> None:
    assert suppressed_for_user(after([["a"], ["b"], ["c"], ["d"]], 9), suppression_runs) == held


def test_an_assistant_turn_is_not_given_what_this_run_was() -> None:
    assert suppressed_for_assistant(after([["a", "b"], ["c"]], 9)) == {"c"}
    assert suppressed_for_assistant(begin_run(after([["a"]], 9), 9)) == frozenset()


def test_ids_are_kept_in_the_order_in_which_they_came_and_once() -> None:
    recent = with_hinted(with_hinted(RecentRuns(), ["b", "a", "b"]), ["a", "c"])
    assert recent.runs == (Run(("b", "a", "c")),)


@given(SESSIONS, st.integers(0, 5))
def test_what_is_forgotten_could_hold_nothing_back_any_more(
    hinted: list[list[str]], suppression_runs: int
) -> None:
    kept = after(hinted, suppression_runs)
    assert len(kept.runs) <= suppression_runs + 1
    whole = after(hinted, len(hinted))
    assert suppressed_for_user(kept, suppression_runs) == suppressed_for_user(whole, suppression_runs)
    assert suppressed_for_assistant(kept) == suppressed_for_assistant(whole)


@given(SESSIONS, st.integers(0, 5))
def test_a_user_message_is_held_back_from_all_that_an_assistant_turn_is(
    hinted: list[list[str]], suppression_runs: int
) -> None:
    recent = after(hinted, suppression_runs)
    assert suppressed_for_assistant(recent) <= suppressed_for_user(recent, suppression_runs)


def test_an_id_comes_back_after_the_runs_that_suppress_it() -> None:
    recent = with_hinted(begin_run(RecentRuns(), 2), ["a"])
    for expected in (True, True, False):
        recent = begin_run(recent, 2)
        assert ("a" in suppressed_for_user(recent, 2)) is expected
        assert suppressed_for_assistant(recent) == frozenset()


def test_a_run_never_hints_an_id_twice_even_with_suppression_off() -> None:
    recent = with_hinted(begin_run(RecentRuns(), 0), ["a", "a"])
    assert recent.current == Run(("a",))
    assert suppressed_for_user(recent, 0) == suppressed_for_assistant(recent) == {"a"}


def test_hints_before_the_first_user_message_belong_to_a_run_of_their_own() -> None:
    recent = with_hinted(RecentRuns(), ["a"])
    assert suppressed_for_assistant(recent) == {"a"}
    assert suppressed_for_user(begin_run(recent, 10), 10) == {"a"}


@settings(deadline=None)
@given(st.integers(0, 5), st.lists(st.lists(st.sampled_from("abcdef"), max_size=3), max_size=12))
def test_recent_runs_agree_with_a_plain_history(size: int, history: list[list[str]]) -> None:
    recent = RecentRuns()
    for ids in history:
        recent = with_hinted(begin_run(recent, size), ids)
    recent = begin_run(recent, size)
    expected = {each for ids in history[max(0, len(history) - size) :] for each in ids} if size else set()
    assert suppressed_for_user(recent, size) == expected
    assert len(recent.runs) <= size + 1
