"""What a command is made of, and what it starts from: its words, the settings, the engine, stdin."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from vaultmem.errors import UsageError

if TYPE_CHECKING:
    from vaultmem.config import Config
    from vaultmem.engine.engine import Engine

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
        value = float("nan")
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return value


def count(text: str) -> int:
    """A flag's value as a whole number."""
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", text.strip()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def config_of(options: Options) -> Config:
    """The settings, with the flags on top. Raises ConfigError."""
    from vaultmem.config import Config

    return Config.load(root=options.root, state_dir=options.state_dir, embedder=options.engine)


def open_engine(options: Options, *, hold: bool = False) -> Engine:
    """The engine of a command."""
    from vaultmem.engine.engine import Engine

    return Engine.open(config=config_of(options), hold=hold)


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
