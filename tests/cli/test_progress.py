"""Progress for people: a line that is rewritten on a terminal, plain lines elsewhere, events in words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest

from tests.shell import output_of


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
