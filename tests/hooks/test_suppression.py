"""Which ids are not shown again, and for how long."""

from __future__ import annotations

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
