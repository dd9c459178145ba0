"""With `NO_COLOR` no colour reaches the terminal: the bytes that a real one would get are read from a pty."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

DASHBOARD = Path(__file__).parent / "programs" / "dashboard.py"
WAY = (
    (b"", b"Needs"),
    (b"2", b"Conflict id"),
    (b"4", rb"Note \d\d"),
    (b" t", b"Tags of"),
    (b"new\r", b"1 note will change"),
    (b"\x13", b"u undoes"),
    (b"3alpha", b"How the score"),
    (b"\t", b"Less"),
    (b"\x10", b"Search for commands"),
    (b"keys\r", b"Everywhere"),
)
"""Keys, and what the screen shows then."""
SGR = re.compile(rb"\x1b\[([\d;:]*)m")


@contextlib.contextmanager
def dashboard(preferences: Path, **environ: str) -> Iterator[int]:
    """A dashboard in a terminal of 120 × 40 with all colours; yields the terminal's other end."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    without = {key: value for key, value in os.environ.items() if not key.startswith("NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, DASHBOARD, preferences],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**without, "TERM": "xterm-256color", "COLORTERM": "truecolor", **environ},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield ours
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def read_until(terminal: int, wanted: bytes, seconds: float = 60) -> bytes:
    """What is written until this is."""
    ends, data = time.monotonic() + seconds, b""
    while not re.search(wanted, re.sub(rb"\x1b\[[\d;:?]*[a-zA-Z]", b"", data)):
        assert time.monotonic() < ends, f"{wanted!r} was not shown"
        if select.select([terminal], [], [], 0.2)[0]:
            data += os.read(terminal, 65536)
    return data


def colours(data: bytes) -> set[bytes]:
    """The escapes in it that set a colour."""
    return {found[0] for found in SGR.finditer(data) if any(_is_colour(code) for code in _codes(found[1]))}


def _codes(parameters: bytes) -> list[int]:
    return [int(code) for code in re.split(rb"[;:]", parameters) if code]


def _is_colour(code: int) -> bool:
    return 30 <= code <= 49 or 90 <= code <= 107


def walked(preferences: Path, **environ: str) -> bytes:
    """All that is written on a way through tabs and dialogs."""
    with dashboard(preferences, **environ) as terminal:
        data = b""
        for keys, shown in WAY:
            os.write(terminal, keys)
            data += read_until(terminal, shown)
        return data


@pytest.mark.timeout(240)
def test_no_colour_reaches_the_terminal_when_none_is_wanted(tmp_path):
    data = walked(tmp_path / "tui.json", NO_COLOR="1")
    assert colours(data) == set()
    attributes = {code for found in SGR.finditer(data) for code in _codes(found[1])}
    assert {1, 2, 7} <= attributes, "bold, dim and reverse say what colours say elsewhere"


@pytest.mark.timeout(240)
def test_colours_are_found_where_they_are_wanted(tmp_path):
    with dashboard(tmp_path / "tui.json") as terminal:
        assert colours(read_until(terminal, b"Needs"))
