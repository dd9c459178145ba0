"""What a command says: data on stdout, everything else on stderr, and the code it ends with."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from vaultmem.errors import EngineError, VaultmemError

DONE, NO, CANNOT_WORK = 0, 1, 3
"""Exit codes: done · the answer is no · the engine cannot work. An error carries its own: 2 for wrong usage."""


@contextlib.contextmanager
def answering() -> Iterator[None]:
    """Around what writes to stdout. Raises EngineError when the answer cannot be written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        mute(sys.stdout)
        raise EngineError(
            f"cannot write the answer: {(error.strerror or str(error)).lower()}",
            advice="Give the command a stdout that takes it: a file with room, a pipe or a terminal.",
        ) from None


def mute(stream: TextIO) -> None:
    """Nobody takes what is written here; what is still buffered has nowhere to go."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def complain(error: VaultmemError) -> None:
    """One or two lines on stderr: what is wrong and where, then what to do."""
    from vaultmem.text.shown import harmless

    narrate(f"vaultmem: {harmless(str(error))}")
    if error.advice:
        narrate(f"  {harmless(error.advice)}")


def reassure(text: str) -> None:
    """Say to a person at a terminal that an empty answer is the answer."""
    if is_terminal(sys.stderr):
        narrate(f"({text})")


def narrate(text: str) -> None:
    """A line for people, on stderr. Where it cannot be written, the answer is worth more than the remark."""
    narrate_lines(text.replace("\n", " "))


def narrate_lines(text: str) -> None:
    """The same for several lines. Names and errors are told in it: whatever they hold, no terminal acts on it."""
    from vaultmem.text.shown import harmless_block

    try:
        print(harmless_block(text), file=sys.stderr, flush=True)
    except OSError:
        mute(sys.stderr)


def answer(text: str, *, end: str = "\n") -> None:
    """Data, on stdout; nothing at all for an empty text. Raises EngineError when it cannot be written.

    A pipe or a file gets every byte of it; of a terminal nothing in it can ask more than letters and lines.
    """
    from vaultmem.text.shown import harmless_block

    if text:
        with answering():
            print(harmless_block(text) if is_terminal(sys.stdout) else text, end=end, flush=True)


@contextlib.contextmanager
def gathered() -> Iterator[TextIO]:
    """A stream for whoever prints by themselves; what they printed is the answer, however they end."""
    text = io.StringIO()
    try:
        yield text
    finally:
        answer(text.getvalue(), end="")


def answer_json(document: Any) -> None:
    """One JSON document on stdout, indented; letters of any script as they are."""
    _answer_escaped(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False))


def answer_json_line(document: Any) -> None:
    """The same on one line, as one of several documents."""
    _answer_escaped(json.dumps(document, ensure_ascii=False, default=str))


def _answer_escaped(text: str) -> None:
    """JSON escapes the first 32 controls; here DEL, C1, turns of direction and what is no text are escaped as well."""
    from vaultmem.text.shown import harmless_id

    harmful = (each for each in set(text) - {"\n"} if harmless_id(each) != each)
    answer(text.translate({ord(each): json.dumps(each)[1:-1] for each in harmful}))


def is_terminal(stream: TextIO) -> bool:
    """A person is looking at it."""
    try:
        return stream.isatty()
    except ValueError:
        return False
