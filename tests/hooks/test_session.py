"""Passive recall: the rules of a session, over an ask made of values."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmem.errors import EngineError
from vaultmem.files.lock import WriterLock
from vaultmem.hooks import budget
from vaultmem.hooks.session import Message, Rules, Session
from vaultmem.hooks.usage import EventKind, SessionLog
from vaultmem.recall.answer import Clue


class FakeAsk:
    """Answers every query with the same ranking, judged as the engine judges."""

    def __init__(self, *scores: tuple[str, float]) -> None:
        self.scores = scores
        self.asked: list[tuple[str, int, frozenset[str]]] = []

    def __call__(
        self, query: str, *, limit: int, project: str | None, suppressed: Collection[str]
    ) -> Sequence[Clue]:
        self.asked.append((query, limit, frozenset(suppressed)))
        answer, free = [], limit
        for key, score in self.scores:
            verdict = "hinted"
            if score < 0.5:
                verdict = "below_threshold"
            elif key in suppressed:
                verdict = "suppressed"
            elif not free:
                verdict = "over_limit"
            free -= verdict == "hinted"
            answer.append(Clue(key, score, f"Name {key}", f"Describes {key}", verdict))
        return answer


FIVE = FakeAsk(("a", 0.9), ("b", 0.8), ("c", 0.7), ("d", 0.6), ("e", 0.4))


def session(tmp_path: Path, name: str = "s1", **rules: int) -> Session:
    root = tmp_path / "root"
    root.mkdir(exist_ok=True)
    (root / "a.md").touch()
    return Session(root, tmp_path / "state", name, Rules(**rules))


def said(text: str) -> Message:
    return Message(text, "claude-code", "proj")


def ids(context: str) -> list[str]:
    return [line[2:].split(" | ")[0] for line in context.splitlines() if line.startswith("- ")]


def kinds(tmp_path: Path, name: str = "s1") -> list[tuple[str, str | None]]:
    return [(event.kind.value, event.id) for event in SessionLog(tmp_path / "root", name).read()]


def test_a_user_message_gets_three_hints_and_an_assistant_turn_two_others(tmp_path: Path) -> None:
    one = session(tmp_path)
    assert ids(one.on_user_message(said("question"), FIVE).context) == ["a", "b", "c"]
    assert ids(one.on_assistant_turn(said("looking"), FIVE).context) == ["d"]
    assert ids(one.on_assistant_turn(said("still looking"), FIVE).context) == []


def test_an_assistant_turn_is_answered_once_however_many_tools_it_called(tmp_path: Path) -> None:
    one = session(tmp_path)
    one.on_user_message(said(""), FIVE)
    assert ids(one.on_assistant_turn(said("looking"), FIVE).context) == ["a", "b"]
    assert one.on_assistant_turn(said("looking"), FIVE) == one.on_assistant_turn(said("looking"), FIVE)
    assert one.on_assistant_turn(said("looking"), FIVE).context == ""


def test_the_person_sees_three_candidates_without_descriptions_pass_or_not(tmp_path: Path) -> None:
    ask = FakeAsk(("a", 0.62), ("b", 0.41), ("c", 0.3), ("d", 0.2))
    shown = session(tmp_path).on_assistant_turn(said("looking"), ask).shown
    assert shown == "memory: ● 0.62 Name a · ○ 0.41 Name b · ○ 0.30 Name c"
    assert session(tmp_path).on_assistant_turn(said("else"), FakeAsk()).shown == ""


def test_an_id_comes_back_for_users_after_those_runs_and_for_turns_in_the_next_one(tmp_path: Path) -> None:
    one, ask = session(tmp_path, suppression_runs=2), FakeAsk(("a", 0.9))
    hinted = [ids(one.on_user_message(said(f"q{n}"), ask).context) for n in range(5)]
    assert hinted == [["a"], [], [], ["a"], []]
    assert ids(one.on_assistant_turn(said("turn"), ask).context) == ["a"]


def test_what_an_assistant_turn_was_given_is_held_back_from_user_messages(tmp_path: Path) -> None:
    one, ask = session(tmp_path), FakeAsk(("a", 0.9))
    one.on_user_message(said(""), ask)
    assert ids(one.on_assistant_turn(said("turn"), ask).context) == ["a"]
    assert ids(one.on_user_message(said("q"), ask).context) == []


def test_the_final_turn_is_recorded_and_does_not_count_as_hinted(tmp_path: Path) -> None:
    one, ask = session(tmp_path), FakeAsk(("a", 0.9), ("b", 0.3))
    one.on_user_message(said(""), ask)
    one.on_final_turn(said("done"), ask)
    one.on_final_turn(said("done"), ask)
    assert kinds(tmp_path) == [("run_started", None), ("queried", None), ("recorded", "a")]
    assert ids(one.on_user_message(said("q"), ask).context) == ["a"]


def test_every_hint_and_every_suppression_is_one_event(tmp_path: Path) -> None:
    one = session(tmp_path)
    one.on_user_message(said("q"), FakeAsk(("a", 0.9), ("b", 0.3)))
    one.on_assistant_turn(said("turn"), FakeAsk(("a", 0.9), ("c", 0.6)))
    assert kinds(tmp_path) == [
        ("run_started", None),
        ("queried", None),
        ("hinted", "a"),
        ("queried", None),
        ("hinted", "c"),
        ("suppressed", "a"),
    ]
    events = list(SessionLog(tmp_path / "root", "s1").read())
    assert {event.project for event in events} == {"proj"} and events[2].rank == 1 and events[2].score == 0.9


def test_what_was_said_is_not_written_down(tmp_path: Path) -> None:
    session(tmp_path).on_user_message(said("my password is hunter2"), FIVE)
    assert b"hunter2" not in SessionLog(tmp_path / "root", "s1").path.read_bytes()


def test_a_hint_that_does_not_fit_the_budget_is_neither_given_nor_counted(tmp_path: Path) -> None:
    one = session(tmp_path, budget_chars=70)
    assert ids(one.on_user_message(said("q"), FIVE).context) == ["a"]
    assert [key for kind, key in kinds(tmp_path) if kind == "hinted"] == ["a"]


def test_sessions_do_not_mix(tmp_path: Path) -> None:
    ask = FakeAsk(("a", 0.9))
    assert ids(session(tmp_path, "s1").on_user_message(said("q"), ask).context) == ["a"]
    assert ids(session(tmp_path, "s2").on_user_message(said("q"), ask).context) == ["a"]


def test_a_failing_engine_does_not_lose_the_run(tmp_path: Path) -> None:
    def fail(query: str, *, limit: int, project: str | None, suppressed: Collection[str]) -> Sequence[Clue]:
        raise EngineError("no engine")

    one = session(tmp_path)
    with pytest.raises(EngineError):
        one.on_user_message(said("q"), fail)
    assert kinds(tmp_path) == [("run_started", None)]


def test_a_hook_that_waits_too_long_for_its_session_gives_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "SESSION_S", 0.05)
    lock = WriterLock(tmp_path / "state" / "sessions" / "s1.lock")
    assert lock.try_acquire()
    with pytest.raises(EngineError, match="takes too long"):
        session(tmp_path).on_user_message(said("q"), FIVE)
    lock.release()


def _hook(root: Path, number: int) -> None:
    session(root).on_assistant_turn(said(f"turn {number}"), FakeAsk(*((f"m{n}", 0.9) for n in range(60))))


def test_concurrent_hooks_of_one_session_never_hint_an_id_twice(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    session(tmp_path).on_user_message(said(""), FIVE)
    workers = [context.Process(target=_hook, args=(tmp_path, number)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    hinted = [
        event.id for event in SessionLog(tmp_path / "root", "s1").read() if event.kind is EventKind.HINTED
    ]
    assert len(hinted) == len(set(hinted)) == 16


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("uaf"), st.lists(st.sampled_from("abcdefgh"), max_size=6)), max_size=40
    )
)
def test_the_rules_hold_for_any_conversation(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, list[str]]]
) -> None:
    one = session(tmp_path_factory.mktemp("s"), suppression_runs=3)
    runs: list[list[str]] = [[]]
    for number, (kind, found) in enumerate(steps):
        ask = FakeAsk(*((key, 0.9) for key in dict.fromkeys(found)))
        if kind == "f":
            one.on_final_turn(said(f"f{number}"), ask)
        elif kind == "a":
            given_now = ids(one.on_assistant_turn(said(f"a{number}"), ask).context)
            assert len(given_now) <= 2
            runs[-1] += given_now
        else:
            given_now = ids(one.on_user_message(said(f"u{number}"), ask).context)
            assert len(given_now) <= 3
            assert not set(given_now) & {key for run in runs[-3:] for key in run}
            runs.append(given_now)
        assert all(count == 1 for count in Counter(runs[-1]).values())


def test_no_lock_is_left_behind(tmp_path: Path) -> None:
    for name in ("s1", "s2"):
        session(tmp_path, name).on_user_message(said("q"), FakeAsk())
    assert list((tmp_path / "state" / "sessions").iterdir()) == []
