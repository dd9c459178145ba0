"""Usage events: the format, damaged lines, and the recent runs that are read back from them."""

from __future__ import annotations

import json
import os
import stat
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmem.files.beneath import LinkOnTheWayError
from vaultmem.hooks.suppression import Run, suppressed_for_user
from vaultmem.hooks.usage import (
    EventKind,
    SessionLog,
    Trigger,
    UsageEvent,
    event_line,
    read_usage_event,
    session_name,
    session_tail,
    turn_key,
)

AT = datetime(2026, 5, 14, 10, 30, tzinfo=UTC)


def event(kind: EventKind, run: int = 1, **fields: object) -> UsageEvent:
    return UsageEvent(kind, "s1", AT, run, **fields)  # type: ignore[arg-type]


def test_a_hint_is_one_line_of_json_without_empty_fields() -> None:
    line = event_line(event(EventKind.HINTED, 3, trigger=Trigger.USER, id="mem_甲", score=0.62341, rank=1))
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    assert json.loads(line) == {
        "v": 1,
        "at": "2026-05-14T10:30:00.000Z",
        "event": "hinted",
        "session": "s1",
        "run": 3,
        "trigger": "user",
        "id": "mem_甲",
        "score": 0.6234,
        "rank": 1,
    }


@settings(deadline=None)
@given(
    st.sampled_from(EventKind),
    st.text(),
    st.integers(0, 10**6),
    st.none() | st.text(),
    st.none() | st.floats(0, 1),
)
def test_what_is_written_is_read_back(
    kind: EventKind, session: str, run: int, key: str | None, score: float | None
) -> None:
    clean = session.encode("utf-8", "replace").decode()
    rounded = None if score is None else round(score, 4)
    key = None if key is None else key.encode("utf-8", "replace").decode()
    written = UsageEvent(kind, clean, AT, run, id=key, score=rounded)
    assert read_usage_event(event_line(written)) == written


@settings(deadline=None)
@given(st.binary())
def test_any_damaged_line_is_skipped(line: bytes) -> None:
    assert read_usage_event(line) is None or line.strip().startswith(b"{")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"event":"hinted"}',
        b'{"event":"invented","session":"s","at":"2026-01-01"}',
        b'{"event":"hinted","session":"s","at":"2026-01-01","run":1e999}',
        b'{"event":"hinted","session":"s","at":"2026-01-01","rank":Infinity}',
        b"[" * 200_000,
    ],
)
def test_foreign_lines_are_skipped(line: bytes) -> None:
    assert read_usage_event(line) is None


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    """A memory root with a note."""
    (tmp_path / "a.md").touch()
    return tmp_path


def test_recent_runs_are_read_back_from_the_file(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "s1")
    log.append([event(EventKind.RUN_STARTED, 1), event(EventKind.HINTED, 1, id="a")])
    log.append([event(EventKind.RUN_STARTED, 2), event(EventKind.QUERIED, 2, turn="t1")])
    log.append([event(EventKind.HINTED, 2, id="b"), event(EventKind.SUPPRESSED, 2, id="a")])
    tail = log.tail(11)
    assert tail.recent.runs == (Run(("a",)), Run(("b",)))
    assert (tail.run, tail.turns) == (2, {"t1"})
    assert suppressed_for_user(tail.recent, 10) == {"a", "b"}


def test_a_torn_last_line_costs_itself_only(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "s1")
    log.append([event(EventKind.RUN_STARTED, 1)])
    with log.path.open("ab") as file:
        file.write(b'{"v":1,"event":"hin')
    log.append([event(EventKind.HINTED, 1, id="a")])
    assert [each.kind for each in log.read()] == [EventKind.RUN_STARTED, EventKind.HINTED]


def test_a_long_session_is_read_from_its_end(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "s1")
    for run in range(1, 2001):
        log.append([event(EventKind.RUN_STARTED, run), event(EventKind.HINTED, run, id=f"m{run}")])
    tail = log.tail(11)
    assert tail.run == 2000 and len(tail.recent.runs) == 11
    assert {f"m{run}" for run in range(1990, 2001)} <= suppressed_for_user(tail.recent, 10)


def test_a_session_without_a_file_has_no_recent_runs(tmp_path: Path) -> None:
    assert SessionLog(tmp_path, "none").tail(11) == session_tail([], 11)
    assert list(SessionLog(tmp_path, "none").read()) == []


def test_files_belong_to_the_user_alone(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "s1")
    log.append([event(EventKind.RUN_STARTED)])
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.path.parent.stat().st_mode) == 0o700


def test_a_session_id_cannot_leave_the_folder(tmp_path: Path) -> None:
    for session in ("../../etc/passwd", "/abs", "a/b", ".", "..", "", "会话", "x" * 300, "a\x00b", "C:\\x"):
        assert SessionLog(tmp_path, session).path.parent == tmp_path / ".vaultmem" / "events"
    assert session_name("9ecf22fa-edf8-4332-ae85-b6d5456eda64") == "9ecf22fa-edf8-4332-ae85-b6d5456eda64"


@settings(deadline=None)
@given(st.text(), st.text())
def test_two_sessions_never_share_a_file(first: str, second: str) -> None:
    assert (session_name(first).casefold() == session_name(second).casefold()) <= (
        first.casefold() == second.casefold()
    )


def test_concurrent_appends_lose_and_tear_nothing(tmp_path: Path) -> None:
    def write(name: str) -> None:
        for number in range(50):
            SessionLog(tmp_path, "s1").append([event(EventKind.HINTED, number, id=name * 100)])

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(SessionLog(tmp_path, "s1").read())) == 200


def test_a_turn_is_known_again_and_says_nothing() -> None:
    assert turn_key("let me look at auth.py") == turn_key("let me look at auth.py") != turn_key("")
    assert len(turn_key("secret")) == 16


def test_a_root_that_is_gone_or_empty_is_no_place_to_record_in(tmp_path: Path) -> None:
    (tmp_path / "mount").mkdir()
    SessionLog(tmp_path / "mount", "s1").append([event(EventKind.RUN_STARTED, 1)])
    assert os.listdir(tmp_path / "mount") == []
    with pytest.raises(FileNotFoundError):
        SessionLog(tmp_path / "gone", "s1").append([event(EventKind.RUN_STARTED, 1)])
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("place", [".vaultmem", ".vaultmem/events", ".vaultmem/events/s1.jsonl"])
def test_nothing_is_written_or_read_through_a_link(tmp_path: Path, place: str) -> None:
    outside = tmp_path / "outside"
    (outside / "events").mkdir(parents=True)
    for file in (outside / "s1.jsonl", outside / "events" / "s1.jsonl"):
        file.write_bytes(event_line(event(EventKind.OPENED, 1, id="planted")))
    before = {path: path.read_bytes() for path in outside.rglob("*.jsonl")}
    link = tmp_path / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside / "s1.jsonl" if place.endswith("jsonl") else outside)
    log = SessionLog(tmp_path, "s1")
    for call in (
        lambda: log.append([event(EventKind.RUN_STARTED, 1)]),
        lambda: list(log.read()),
        lambda: log.tail(1),
    ):
        with pytest.raises(LinkOnTheWayError):
            call()
    assert {path: path.read_bytes() for path in outside.rglob("*.jsonl")} == before
    assert sorted(os.listdir(outside)) == ["events", "s1.jsonl"]
