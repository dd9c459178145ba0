"""How signals end the dashboard: as `q` does, so that the terminal is given back and what is being written is finished.

Python knows no more of SIGTERM and SIGHUP than that they end a process at once, with the mouse, the other screen and
the hidden cursor left behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
PATIENCE_S = 4.0
"""So long the orderly way may take; a screen that nobody reads, or a long look at a vault, must not stop the end."""
WRITE_S = 1.0
LEAVES_MODES = (
    "\x1b[?2004l\x1b[?7h\x1b[?2048l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"
    "\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
)
"""Paste, line wrap, sizes, mouse, keyboard, the other screen, the cursor, focus: as they were."""

_borrowers: list[subprocess.Popen[bytes]] = []
"""The program that has the terminal at the moment, if any."""


class Ending:
    """What a signal has decided. `code` is None until one came, then 128 and its number."""

    def __init__(self, leave: Callable[[int], object]) -> None:
        """`leave` ends the app with an exit code; it is called on the app's own loop."""
        self.code: int | None = None
        self._leave = leave
        self._attributes = _attributes()

    @contextlib.contextmanager
    def by_signal(self) -> Iterator[None]:
        """While this lasts, signals end the app in order, or after a while all the same."""
        before = {number: signal.signal(number, self._end) for number in SIGNALS}
        try:
            yield
        finally:
            if self.code is None:  # else the patience goes on: threads and the engine are still to end
                for number, handler in before.items():
                    signal.signal(number, handler)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and _borrowers:
            return  # Ctrl-C in an editor is the editor's
        for borrower in _borrowers:  # editors know how to keep what is unsaved
            with contextlib.suppress(OSError):
                borrower.send_signal(number)
        if self.code is not None:
            return
        code = self.code = 128 + number
        threading.Thread(target=self._insist, args=(code,), daemon=True).start()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # not yet begun, or over
            raise SystemExit(code) from None
        loop.call_soon_threadsafe(self._leave, code)

    def _insist(self, code: int) -> None:
        time.sleep(PATIENCE_S)
        writing = threading.Thread(target=self._give_terminal_back, daemon=True)
        writing.start()
        writing.join(WRITE_S)
        os._exit(code)

    def _give_terminal_back(self) -> None:
        if _borrowers or self._attributes is None or _attributes() in (None, self._attributes):
            return
        with contextlib.suppress(OSError, termios.error):
            termios.tcsetattr(0, termios.TCSANOW, self._attributes)
            os.write(2, LEAVES_MODES.encode())  # Textual draws on stderr


def lend_terminal(command: Sequence[str]) -> int:
    """Run a program in the terminal, which the app has left; its exit code. What was typed beside it is forgotten.

    Raises OSError when it cannot be started.
    """
    with subprocess.Popen(command) as process:
        _borrowers.append(process)
        try:
            code = process.wait()
        finally:
            _borrowers.remove(process)
    with contextlib.suppress(termios.error, ValueError, OSError):
        termios.tcflush(sys.__stdin__.fileno() if sys.__stdin__ else 0, termios.TCIFLUSH)
    return code


def _attributes() -> list[Any] | None:
    try:
        return termios.tcgetattr(0)
    except termios.error:
        return None
