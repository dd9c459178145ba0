"""Progress for people: a line that is rewritten on a terminal, plain lines elsewhere, events in words."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from tests.shell import output_of
from vaultmem.cli import progress
from vaultmem.cli.progress import CountLine, ProgressLine, duration, told
from vaultmem.events import (
    CachesChanged,
    EmbeddingProgress,
    EngineFailed,
    EngineRecovered,
    LockChanged,
    NoteEdited,
    Phase,
    Progress,
    SyncFinished,
    SyncReport,
    WatcherChanged,
    WatcherMode,
)


def test_nothing_is_coloured_where_no_terminal_is_and_progress_is_plain(shell):
    shell.note("a.md", "a")
    for environment in ({**os.environ}, {**os.environ, "NO_COLOR": "1"}):
        code, out, err = output_of(shell.process("sync", "--full", env=environment))
        assert code == 0 and "\x1b" not in out + err and "\r" not in out + err


def test_no_color_is_respected_on_a_terminal(shell):
    pty = pytest.importorskip("pty")
    for n in range(60):
        shell.note(f"{n}.md", f"n{n}")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "xterm-256color"}
    with shell.process("sync", stderr=theirs, env=environment) as process:
        os.close(theirs)
        said = b"".join(read_terminal(ours))
        assert process.wait(30) == 0
    assert b"notes" in said, "no progress was shown"
    assert not re.search(rb"\x1b\[[\d;]*m", said), "a colour was used"
    assert said.rstrip(b"\r\n").rpartition(b"\r")[2].find("█".encode()) < 0, "half a line was left behind"


def read_terminal(descriptor: int) -> Iterator[bytes]:
    with os.fdopen(descriptor, "rb", buffering=0) as terminal:
        while True:
            try:
                block = terminal.read(65_536)
            except OSError:  # how Linux says that the other side is closed
                return
            if not block:
                return
            yield block


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """The time, which goes on when it is told to."""
    now = [1_000.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setenv("TERM", "xterm")
    return now


def test_on_a_terminal_one_line_is_rewritten_and_goes_when_all_is_done(clock):
    stream = Terminal()
    with ProgressLine(stream) as line:
        line.show(Progress(Phase.EMBEDDING, 1, 2, 600.0))
    assert stream.getvalue() == (
        "\r\x1b[K" + "█" * 12 + "░" * 12 + " embedding 1/2 notes, about 10 min left" + "\r\x1b[K"
    )


def test_a_line_is_not_rewritten_more_often_than_eyes_can_follow(clock):
    stream = Terminal()
    with ProgressLine(stream) as line:
        for done in range(1, 4):
            line.show(Progress(Phase.READING, done, 9))
            clock[0] += progress.TERMINAL_EVERY_S * 0.6
    assert re.findall(r"reading (\d)/9", stream.getvalue()) == ["1", "3"]


@pytest.mark.parametrize("make", [ProgressLine, lambda stream: CountLine(stream, "queries")])
def test_where_nothing_was_shown_nothing_is_wiped_that_others_wrote(clock, make):
    stream = io.StringIO()
    with make(stream):
        pass
    assert stream.getvalue() == ""


@pytest.mark.parametrize("is_terminal", [True, False])
def test_what_is_done_of_nothing_is_no_progress(clock, is_terminal):
    stream = Terminal() if is_terminal else io.StringIO()
    with ProgressLine(stream) as line:
        line.show(Progress(Phase.EMBEDDING, 0, 0))
    assert stream.getvalue() == ""


def test_elsewhere_the_long_phase_alone_is_told_now_and_then(clock):
    stream = io.StringIO()
    with ProgressLine(stream) as line:
        for done in range(1, 4):
            line.show(Progress(Phase.READING, done, 9))
            clock[0] += progress.ELSEWHERE_EVERY_S
            line.show(Progress(Phase.EMBEDDING, done, 9))
    assert stream.getvalue() == "".join(f"embedding {done}/9 notes\n" for done in range(1, 4))


def test_a_terminal_that_cannot_rewrite_gets_plain_lines(clock, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    with ProgressLine(stream) as line, CountLine(stream, "queries") as count:
        line.show(Progress(Phase.EMBEDDING, 1, 2))
        count.show(1, 2)
    assert stream.getvalue() == "embedding 1/2 notes\n"


def test_a_count_is_rewritten_on_a_terminal(clock):
    stream = Terminal()
    with CountLine(stream, "queries") as line:
        line.show(1, 2)
    assert stream.getvalue() == "\r\x1b[K1/2 queries\r\x1b[K"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "1 s"),
        (40.4, "40 s"),
        (89.4, "89 s"),
        (90, "2 min"),
        (5_399, "90 min"),
        (5_400, "2 h"),
        (36_000, "10 h"),
    ],
)
def test_a_time_is_said_in_its_largest_unit(seconds, words):
    assert duration(seconds) == words


AT = datetime(2026, 5, 14, tzinfo=UTC)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (
            SyncFinished(AT, SyncReport(scanned=1, added=1, admitted=1)),
            "1 note: 1 added; 1 can be hinted (0.00 s)",
        ),
        (EngineFailed(AT, "no disk", "Mount it."), "no disk. Mount it."),
        (EngineFailed(AT, "no disk", ""), "no disk."),
        (EngineRecovered(AT), "works again"),
        (WatcherChanged(AT, WatcherMode.NATIVE), "changes are noticed by: native"),
        (WatcherChanged(AT, WatcherMode.POLLING, "no room"), "changes are noticed by: polling (no room)"),
        (LockChanged(AT, is_writer=True), "this process writes now"),
        (LockChanged(AT, is_writer=False, pid=42), "process 42 writes"),
        (NoteEdited(AT, "a.md", "tags"), "tags: a.md"),
        (EmbeddingProgress(AT, 1, 2, None), ""),
        (CachesChanged(AT), ""),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_an_event_is_told_in_a_line_or_not_at_all(event, words):
    assert told(event) == words
