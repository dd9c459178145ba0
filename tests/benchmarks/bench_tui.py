"""The dashboard's bars, measured in a real terminal (a pty) as processes: first paint, use, keys, typing, memory.

They want a quiet machine. Each figure is printed as `BAR name: value (bar)`, or `MISS` and the test fails.
"""

from __future__ import annotations

import asyncio
import os
import pty
import re
import select
import statistics
import struct
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fcntl import ioctl
from pathlib import Path

import psutil
import pytest

from vaultmem.engine import Engine
from vaultmem.testing import HashingEmbedder

pytestmark = pytest.mark.timeout(1800)
NOTES = 10_000
VAULTMEM = str(Path(sys.executable).with_name("vaultmem"))
ESCAPES = re.compile(rb"\x1b\[[0-9;?=>]*[A-Za-z]|\x1b\][^\x07]*\x07")


def bar(name: str, value: float, limit: float, detail: str = "") -> None:
    """Print a figure beside its bar, and fail when it is missed."""
    print(f"\n{'BAR ' if value <= limit else 'MISS'} {name}: {value:.3f} (<= {limit:g}) {detail}")
    assert value <= limit, name


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
    """Start it as a process; end it with `q`."""
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
        os.write(fd, b"\x1bq")
        ends = time.monotonic() + 10
        while psutil.pid_exists(pid) and time.monotonic() < ends:
            terminal._read(0.05)
            if os.waitpid(pid, os.WNOHANG)[0]:
                break
        else:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        os.close(fd)


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """10,000 synced notes."""
    folder = tmp_path_factory.mktemp("tui")
    root, state = folder / "vault" / "March Memories", folder / "state"
    for at in range(NOTES):
        week = root / f"2026/{at % 12 + 1:02}/week{at % 4 + 1}"
        week.mkdir(parents=True, exist_ok=True)
        (week / f"n{at}.md").write_text(
            f"---\nid: mem_{at}\nname: 名字 name {at}\ndescription: what memory {at} is about\n"
            f"tags: [t{at % 40}]\nstatus: active\n---\n正文 body {at} of the retry worker token{at}.\n",
            encoding="utf-8",
        )
    with Engine.open(root, state, "none") as engine:
        engine.sync(embed=False)
    return root, state


def test_first_paint(vault):
    times = []
    for _ in range(5):
        with dashboard(*vault) as terminal:
            times.append(terminal.wait_for(b"Needs attention"))
    bar("first paint, s", min(times), 0.7, f"median {statistics.median(times):.2f}")


def test_usable_with_10000_notes(vault):
    times = []
    for _ in range(3):
        with dashboard(*vault) as terminal:
            times.append(terminal.wait_for(b"10,000"))
    bar("usable with 10,000 notes, s", min(times), 1.5, f"median {statistics.median(times):.2f}")


def test_keys_and_memory_with_10000_notes(vault):
    with dashboard(*vault) as terminal:
        terminal.wait_for(b"10,000")
        terminal.press(b"4")
        time.sleep(1.0)
        rss = psutil.Process(terminal.pid).memory_info().rss / 1e6
        times = sorted(terminal.press(b"j") for _ in range(60))
        bar("memory with 10,000 notes, MB", rss, 500)
        bar("key press to effect, 10,000 notes, p95 s", times[56], 0.05, f"median {times[30]:.3f}")
        terminal.press(b"/")
        typed = sorted(terminal.press(bytes([key])) for key in b"name 1234" * 4)
        bar("filter key press, 10,000 notes, p95 s", typed[int(len(typed) * 0.95)], 0.1)


@pytest.mark.model
def test_keys_while_embedding_runs_behind(vault, tmp_path):
    root, _ = vault
    with dashboard(root, tmp_path / "state", "bundled") as terminal:
        terminal.wait_for(b"embedding", seconds=120)
        terminal.press(b"4")
        time.sleep(2.0)
        times = sorted(terminal.press(b"j") for _ in range(80))
    bar("key press to effect while embedding, p95 s", times[76], 0.05, f"median {times[40]:.3f}")


def test_typing_to_refreshed_results(tmp_path, monkeypatch):
    """From a key in the prompt to the new results, less what the embedder takes for the query."""
    from tui.app import VaultmemApp
    from tui.messages import Recalled
    from tui.panes.recall import RecallPane
    from tui.preferences import Preferences
    from tui.testing import until

    root, state = tmp_path / "vault" / "March Memories", tmp_path / "state"
    root.mkdir(parents=True)
    for at in range(500):
        text = f"---\nid: mem_{at}\nname: n{at}\ndescription: about {at}\ntags: [t]\n---\nretry worker token{at}\n"
        (root / f"n{at}.md").write_text(text, encoding="utf-8")
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
        return sorted(times)

    times = asyncio.run(measure())
    bar(
        "typing to refreshed results, p95 s",
        times[int(len(times) * 0.95)],
        0.06,
        f"median {times[len(times) // 2]:.3f}",
    )
