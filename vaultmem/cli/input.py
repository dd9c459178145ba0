"""What a command is made of, and what it starts from: its words, the settings, the engine, stdin."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from vaultmem.errors import UsageError

if TYPE_CHECKING:
    from vaultmem.config import Config
    from vaultmem.engine.engine import Engine
    from vaultmem.events import Event

STDIN_MOST_BYTES = 64 << 20
"""Much more than any prompt or note; a device such as /dev/zero never ends."""

Words: TypeAlias = argparse.ArgumentParser
"""Where a command names the words it takes."""
Options: TypeAlias = argparse.Namespace
"""What was said in them."""


@dataclass(frozen=True, slots=True)
class Command:
    """What `vaultmem NAME` does, in a line; the function that does it; the words it takes."""

    summary: str
    run: Callable[[Options], int]
    words: Callable[[Words], Any] = lambda words: None


def share(text: str) -> float:
    """A flag's value from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return value


def count(text: str) -> int:
    """A flag's value as a whole number, also one below 0: what is too small is for the command to say."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def port(text: str) -> int:
    """A flag's value as a port of this machine."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= 5 else -1
    if not 0 <= number <= 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: 0 to 65535")
    return number


def config_of(options: Options) -> Config:
    """The settings, with the flags on top. Raises ConfigError."""
    from vaultmem.config import Config

    return Config.load(root=options.root, state_dir=options.state_dir, embedder=options.engine)


def open_engine(options: Options, *, hold: bool = False) -> Engine:
    """The engine of a command. What it meets broken on the way is said on stderr."""
    from vaultmem.engine.engine import Engine

    engine = Engine.open(config=config_of(options), hold=hold)
    if not hold:  # who holds the lock tells every event
        engine.subscribe(_narrate_failure)
    return engine


def _narrate_failure(event: Event) -> None:
    from vaultmem.cli.output import narrate
    from vaultmem.cli.progress import told
    from vaultmem.events import EngineFailed

    if isinstance(event, EngineFailed):
        narrate(told(event))


def read_question() -> str:
    """All of stdin as UTF-8; wrong bytes become U+FFFD, since a question is read and forgotten."""
    return _read_stdin().decode("utf-8-sig", "replace")


def _read_stdin() -> bytes:
    data = sys.stdin.buffer.read(STDIN_MOST_BYTES + 1)
    if len(data) > STDIN_MOST_BYTES:
        raise UsageError(
            f"stdin holds more than {STDIN_MOST_BYTES >> 20} MiB", advice="Give the text that is meant alone."
        )
    return data


def read_text() -> str:
    """All of stdin as UTF-8, to be kept. Raises UsageError for other bytes: what they stood for cannot be guessed."""
    from vaultmem.notes.parse import encoding_problem

    data = _read_stdin()
    if problem := encoding_problem(data):
        raise UsageError(
            f"stdin is not UTF-8 text, line {problem.line}: {problem.detail}; nothing was written",
            advice="Convert it first, for example with `iconv -f gbk -t utf-8`.",
        )
    return data.decode("utf-8-sig")
