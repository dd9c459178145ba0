"""The dashboard's bars, measured in a real terminal (a pty) as processes: first paint, use, keys, typing, memory.

They want a quiet machine. Each figure is printed as `BAR name: value (bar)`, or `MISS` and the test fails.
"""

from __future__ import annotations

import asyncio
import os
import pty
import re
import select
import struct
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fcntl import ioctl
from itertools import cycle
from pathlib import Path

import psutil
import pytest

from tests.benchmarks.bars import VAULTMEM, bar, p50, p95, write_note
from vaultmem.engine.engine import Engine
from vaultmem.testing import HashingEmbedder

pytestmark = pytest.mark.timeout(1800)
NOTES = 10_000
ESCAPES = re.compile(rb"\x1b\[[0-9;?=>]*[A-Za-z]|\x1b\][^\x07]*\x07")


@dataclass
class Terminal:
    """The dashboard in a terminal of its own: what it wrote, and a way to press keys."""

    pid: int
    fd: int
    started: float
    seen: bytearray = field(default_factory=bytearray)

    def wait_for(self, text: bytes, seconds: float = 60.0) -> float:
        """Read until `text` is on the screen; seconds since the start."""
        ends = time.perf_counter() + seconds
        while text not in ESCAPES.sub(b"", bytes(self.seen)):
            assert time.perf_counter() < ends, f"{text!r} was not shown"
            self._read(0.02)
        return time.perf_counter() - self.started

    def press(self, keys: bytes) -> float:
        """Press keys; seconds until the screen changes."""
        self._drain()
        started = time.perf_counter()
        os.write(self.fd, keys)
        assert self._read(5.0), "no answer to a key"
        return time.perf_counter() - started

    def read_for(self, seconds: float) -> None:
        """Take in what is written in that time. Raises OSError when the other side is closed."""
        ends = time.perf_counter() + seconds
        while (left := ends - time.perf_counter()) > 0:
            self._read(left)

    def _drain(self) -> None:
        while self._read(0.05):
            pass

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if ready:
            self.seen += os.read(self.fd, 65536)
        return bool(ready)


@contextmanager
def dashboard(root: Path, state: Path, embedder: str = "none") -> Iterator[Terminal]:
    """Start it as a process; end it with `q`, which it must obey."""
    started = time.perf_counter()
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", XDG_STATE_HOME=str(state.parent))
        os.environ["VAULTMEM_EMBEDDER"] = embedder
        os.execv(VAULTMEM, [VAULTMEM, "tui", "--root", str(root), "--state-dir", str(state)])
    ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    terminal = Terminal(pid, fd, started)
    try:
        yield terminal
    finally:
        code = _ended(terminal)
    assert code == 0, f"the dashboard ended with {code}"


def _ended(terminal: Terminal) -> int:
    """Quit the dashboard; its exit code. After ten seconds it is killed."""
    ends = time.monotonic() + 10
    keys = cycle((b"\x1b", b"\x1b", b"q"))  # empty a filter, leave it, and away
    while not (ended := os.waitpid(terminal.pid, os.WNOHANG))[0]:
        if time.monotonic() > ends:
            os.kill(terminal.pid, 9)
        with suppress(OSError):  # it has closed its side
            os.write(terminal.fd, next(keys))
            terminal.read_for(0.3)  # at once with the escape, a q would be alt+q
    os.close(terminal.fd)
    return os.waitstatus_to_exitcode(ended[1])


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """10,000 synced notes."""
    folder = tmp_path_factory.mktemp("tui")
    root, state = folder / "vault" / "March Memories", folder / "state"
    for at in range(NOTES):
        body = f"正文 body {at} of the retry worker token{at}."
        write_note(root, at, body, name=f"名字 name {at}", tag=f"t{at % 40}")
    with Engine.open(root, state, "none") as engine:
        engine.sync(embed=False)
    return root, state


def test_first_paint(vault):
    times = []
    for _ in range(5):
        with dashboard(*vault) as terminal:
            times.append(terminal.wait_for(b"Needs attention"))
    bar("first paint, s", min(times), 0.7, f"median {p50(times):.2f}")


def test_usable_with_10000_notes(vault):
    times = []
    for _ in range(3):
        with dashboard(*vault) as terminal:
            times.append(terminal.wait_for(b"10,000"))
    bar("usable with 10,000 notes, s", min(times), 1.5, f"median {p50(times):.2f}")


def test_keys_and_memory_with_10000_notes(vault):
    with dashboard(*vault) as terminal:
        terminal.wait_for(b"10,000")
        terminal.press(b"4")
        time.sleep(1.0)
        rss = psutil.Process(terminal.pid).memory_info().rss / 1e6
        times = [terminal.press(b"j") for _ in range(60)]
        bar("memory with 10,000 notes, MB", rss, 500)
        bar("key press to effect, 10,000 notes, p95 s", p95(times), 0.05, f"median {p50(times):.3f}")
        terminal.press(b"/")
        typed = [terminal.press(bytes([key])) for key in b"name 1234" * 4]
        bar("filter key press, 10,000 notes, p95 s", p95(typed), 0.1)


@pytest.mark.model
def test_keys_while_embedding_runs_behind(vault, tmp_path):
    root, _ = vault
    with dashboard(root, tmp_path / "state", "bundled") as terminal:
        terminal.wait_for(b"embedding", seconds=120)
        terminal.press(b"4")
        time.sleep(2.0)
        times = [terminal.press(b"j") for _ in range(80)]
    bar("key press to effect while embedding, p95 s", p95(times), 0.05, f"median {p50(times):.3f}")


def test_typing_to_refreshed_results(tmp_path, monkeypatch):
    """From a key in the prompt to the new results, less what the embedder takes for the query."""
    from tui.app import VaultmemApp
    from tui.looks.preferences import Preferences
    from tui.messages import Recalled
    from tui.panes.recall import RecallPane
    from tui.testing.driving import until

    root, state = tmp_path / "vault" / "March Memories", tmp_path / "state"
    for at in range(500):
        write_note(root, at, f"retry worker token{at}", folder="")
    with Engine.open(root, state, HashingEmbedder()) as engine:
        engine.sync()

    async def measure() -> list[float]:
        times: list[float] = []
        app = VaultmemApp(
            lambda: Engine.open(root, state, HashingEmbedder(), hold=True, watch=True),
            root=root,
            preferences=Preferences(tmp_path / "tui.json"),
        )
        answered: list[float] = []
        show = RecallPane.on_recalled

        def shown(pane: RecallPane, event: Recalled) -> None:
            show(pane, event)
            answered.append(time.perf_counter())

        monkeypatch.setattr(RecallPane, "on_recalled", shown)
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.engine and app.dashboard.shelf.notes, seconds=60)
            await pilot.press("3", *"retry ")
            await until(pilot, lambda: answered, seconds=60)
            await pilot.pause(1.0)
            for letter in "worker token12 with many words in it":
                before = len(answered)
                started = time.perf_counter()
                await pilot.press("space" if letter == " " else letter)
                await until(pilot, lambda before=before: len(answered) > before)
                times.append(answered[-1] - started)
        app.close_engine()
        return times

    times = asyncio.run(measure())
    bar("typing to refreshed results, p95 s", p95(times), 0.06, f"median {p50(times):.3f}")
