"""The program itself in a terminal of its own, ended by a signal, a hang-up, or with an editor open."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.shell import VAULTMEM
from tests.terminal import Terminal
from tui import ending
from tui.ending import LEAVES_MODES, Ending, lend_terminal

MODES = ("?1049", "?25", "?1000", "?1003", "?1006", "?2004", "?1004")
"""The other screen, the cursor, the mouse, pasting, focus."""
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def is_given_back(output: bytes) -> bool:
    """The last word on each mode is the one that a shell wants; and there was one."""
    text = output.decode("utf-8", "replace")
    for mode in MODES:
        wanted, other = ("h", "l") if mode == "?25" else ("l", "h")
        if text.rfind(f"\x1b[{mode}{wanted}") <= text.rfind(f"\x1b[{mode}{other}"):
            return False
    return True


@pytest.fixture
def open_tui(shell) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def make(*words: str, **environ: str) -> Terminal:
        terminal = Terminal([*VAULTMEM, "tui", *words], environ=environ)
        opened.append(terminal)
        return terminal

    yield make
    for terminal in opened:
        terminal.__exit__(None, None, None)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_gives_the_terminal_back_and_tells_by_its_code(shell, open_tui, number):
    shell.note("a.md", "a")
    terminal = open_tui()
    terminal.wait_for_text("writes here")
    assert not is_given_back(terminal.output)
    terminal.send(number)
    assert terminal.ended(within_s=30) == 128 + number
    assert is_given_back(terminal.output) and b"Traceback" not in terminal.output
    assert shell.json("status")["writer"] == {"pid": None, "alive": False}


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_at_the_start_ends_it_as_well(shell, open_tui, number):
    shell.note("a.md", "a")
    terminal = open_tui()
    terminal.wait_for_text("\x1b[?1049h")
    terminal.send(number)
    assert terminal.ended(within_s=30) == 128 + number
    assert is_given_back(terminal.output)


def test_a_terminal_that_is_closed_ends_it(shell, open_tui):
    shell.note("a.md", "a")
    terminal = open_tui()
    terminal.wait_for_text("writes here")
    terminal.hang_up()
    assert terminal.process.wait(30) == 128 + signal.SIGHUP
    assert shell.json("status")["writer"] == {"pid": None, "alive": False}


def test_a_terminal_that_takes_nothing_any_more_does_not_stop_the_end(shell, open_tui):
    shell.note("a.md", "a")
    terminal = open_tui()
    terminal.wait_for_text("writes here")
    for _ in range(400):  # each makes the screen anew; nobody reads it, until the terminal is full
        terminal.type("23451")
    terminal.send(signal.SIGTERM)
    assert terminal.process.wait(30) == 128 + signal.SIGTERM


def test_without_a_terminal_on_any_stream_it_says_so(shell):
    with open(os.devnull, "w") as nowhere, Terminal([*VAULTMEM, "tui"], stdout=nowhere.fileno()) as terminal:
        assert terminal.ended() == 2
    assert b"needs a terminal" in terminal.output


# --- beside an editor

EDITOR = """
import pathlib, signal, sys, time
here = pathlib.Path(sys.argv[1])
def end(number, frame):
    (here / "told").write_text(str(number))
    raise SystemExit(0)
signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGHUP, end)
(here / "opened").touch()
while not (here / "close").exists():
    time.sleep(0.01)
"""
"""As those that open a window of their own: it reads nothing from the terminal."""


@pytest.fixture
def editor(tmp_path: Path) -> str:
    program = tmp_path / "editor.py"
    program.write_text(EDITOR)
    return shlex.join([sys.executable, str(program), str(tmp_path)])


def open_editor(terminal: Terminal, tmp_path: Path) -> None:
    terminal.wait_for_text("writes here")
    terminal.type_until("4", lambda: b"about a" in terminal.output)  # it is the chosen one
    terminal.type_until("e", (tmp_path / "opened").exists)


def test_keys_typed_beside_an_editor_do_nothing_to_the_notes(shell, open_tui, editor, tmp_path):
    file = shell.note("a.md", "a")
    before = file.read_bytes()
    terminal = open_tui(EDITOR=editor)
    open_editor(terminal, tmp_path)
    terminal.type("d\rdyd\x1b[200~d\x1b[201~")
    (tmp_path / "close").touch()
    terminal.wait_for(
        lambda: b"Note a" in b"".join(terminal.output.split(b"\x1b[?1049h")[2:])
    )  # painted again
    terminal.type("q")  # the next key counts
    assert terminal.ended() == 0
    assert file.read_bytes() == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_an_editor_is_told_of_the_end_and_the_dashboard_follows(shell, open_tui, editor, tmp_path, number):
    shell.note("a.md", "a")
    terminal = open_tui(EDITOR=editor)
    open_editor(terminal, tmp_path)
    terminal.send(number)
    assert terminal.ended(within_s=30) == 128 + number
    assert (tmp_path / "told").read_text() == str(int(number))
    assert is_given_back(terminal.output)


# --- inside


def test_before_the_app_has_begun_a_signal_simply_ends():
    left: list[int] = []
    end = Ending(left.append)
    before = signal.getsignal(signal.SIGTERM)
    with end.by_signal():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before and end.code is None and left == []


def test_ctrl_c_in_an_editor_is_the_editors(tmp_path):
    assert lend_terminal([sys.executable, "-c", "raise SystemExit(3)"]) == 3
    assert ending._borrowers == []
    with pytest.raises(OSError):
        lend_terminal([str(tmp_path / "none")])
    assert ending._borrowers == []


def test_every_mode_that_is_switched_on_is_among_those_that_are_left():
    assert is_given_back(
        b"".join(f"\x1b[{mode}{'l' if mode == '?25' else 'h'}".encode() for mode in MODES)
        + LEAVES_MODES.encode()
    )
