"""Programs in processes of their own, spoken to by lines: readers beside a writer, and sudden deaths."""

from __future__ import annotations

import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"


class Peer:
    """One of `programs` that runs in another process."""

    def __init__(self, program: str, *arguments: object) -> None:
        command = [sys.executable, "-u", PROGRAMS / f"{program}.py", *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, line: str) -> None:
        """Send a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, line: str) -> str:
        """Send a line and return the line that comes back."""
        self.say(line)
        return self.hear()

    def hear(self) -> str:
        """Return the next line that it writes; empty when it is gone."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    @property
    def has_spoken(self) -> bool:
        """Whether there is something to hear."""
        return bool(select.select([self.process.stdout], [], [], 0)[0])

    def hang_up(self) -> None:
        """Close its stdin."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def kill(self) -> None:
        """kill -9, or what is left to do for one that is gone."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def peer() -> Iterator[Callable[..., Peer]]:
    """Start programs; what still runs at the end of the test is killed."""
    started: list[Peer] = []

    def start(program: str, *arguments: object) -> Peer:
        started.append(Peer(program, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.kill()
