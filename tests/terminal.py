"""A real terminal (a pty) with a process of its own in it: what the process writes, keys typed, signals, hanging up."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

PATIENCE_S = 60.0
"""A generous limit on a busy machine; every wait ends as soon as its condition holds."""


class Terminal:
    """Runs `command` in a terminal of `columns` × `rows`; as a context manager it leaves no process behind."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int = 100,
        rows: int = 30,
        environ: dict[str, str] | None = None,
        stdout: int | None = None,
    ) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.output = b""
        inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs if stdout is None else stdout,
            stderr=theirs,
            env={**inherited, "TERM": "xterm-256color", **(environ or {})},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE_S)
        self.hang_up()

    def read(self, within_s: float = 0.1) -> bool:
        """Take in what is there; False when nothing came within that time, or nobody writes any more."""
        if self._ours < 0 or not select.select([self._ours], [], [], within_s)[0]:
            return False
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # EIO: the last process of the terminal is gone
            return False
        self.output += data
        return bool(data)

    def wait_for(self, holds: Callable[[], object], within_s: float = PATIENCE_S) -> None:
        """Read on until something holds. Fails with what was written last."""
        end = time.monotonic() + within_s
        while not holds():
            assert time.monotonic() < end, f"it never came to that: …{self.output[-2000:]!r}"
            if not self.read():
                time.sleep(0.01)

    def wait_for_text(self, text: str, within_s: float = PATIENCE_S) -> None:
        """Read on until a text has been written."""
        self.wait_for(lambda: text.encode() in self.output, within_s)

    def type_until(self, keys: str, holds: Callable[[], object]) -> None:
        """The same keys again and again, as a person does when nothing happens."""
        for _ in range(30):
            self.type(keys)
            with contextlib.suppress(AssertionError):
                return self.wait_for(holds, within_s=2)
        raise AssertionError(f"it never came to that: …{self.output[-2000:]!r}")

    def type(self, keys: str) -> None:
        """Keys, as a person would press them."""
        os.write(self._ours, keys.encode())

    def send(self, number: signal.Signals) -> None:
        """A signal to the process."""
        self.process.send_signal(number)

    def hang_up(self) -> None:
        """Close the terminal, as a window that is closed or a line that breaks."""
        if self._ours >= 0:
            os.close(self._ours)
            self._ours = -1

    def ended(self, within_s: float = PATIENCE_S) -> int:
        """The exit code, once the process has ended; all that it wrote is in `output`."""
        with contextlib.suppress(AssertionError):
            self.wait_for(lambda: self.process.poll() is not None, within_s)
        code = self.process.wait(1)
        while self.read():
            pass
        return code
