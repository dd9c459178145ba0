"""The second of a hook: its parts fit the whole."""

from __future__ import annotations

from vaultmem.hooks import budget
from vaultmem.install.invocation import CLIENT_TIMEOUT_S
from vaultmem.worker.client import CONNECT_TIMEOUT_S

SECOND = 1.0
"""What docs/agents.md promises of a prompt."""


def test_the_alarm_that_holds_the_whole_rings_within_the_second() -> None:
    assert budget.PROCESS_S + 2 * budget.GRACE_S <= SECOND


def test_a_worker_that_is_too_slow_leaves_time_to_say_nothing() -> None:
    assert budget.WORKER_S < budget.PROCESS_S


def test_a_session_and_a_turn_may_be_waited_for_before_the_worker_is_too_slow() -> None:
    assert budget.SESSION_S + budget.TURN_S <= budget.WORKER_S


def test_on_the_long_way_words_alone_can_still_answer_after_a_session_was_waited_for() -> None:
    assert budget.SESSION_S + CONNECT_TIMEOUT_S < budget.PROCESS_S


def test_on_the_long_way_a_worker_may_name_candidates_in_what_is_left() -> None:
    assert CONNECT_TIMEOUT_S + budget.CLUES_S <= budget.PROCESS_S
    assert budget.CLUES_S < budget.WORKER_S


def test_the_client_waits_longer_than_the_hook_takes() -> None:
    assert SECOND < CLIENT_TIMEOUT_S
