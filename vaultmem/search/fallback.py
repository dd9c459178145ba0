"""Text search without ripgrep: the same notes in the same order, read with Python.

Regular expressions are those of Python's `re`, not ripgrep's: no `\\p{…}`, no nested classes,
look-around and back-references instead, and an expression that backtracks without end is stopped only
between two notes.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from re import Pattern as Compiled

from vaultmem.search.lines import (
    CONTEXT_CHARS,
    TOO_LONG,
    FoundLine,
    Matches,
    Wanted,
    collect,
    excerpt,
    few,
)
from vaultmem.search.sources import Source, note_files


def search_by_python(wanted: Wanted, *warnings: str) -> Matches:
    """The matches, and `warnings` before its own. Raises UsageError for a pattern that Python cannot read."""
    notices = list(warnings)
    hits = collect(_found_lines(wanted, notices), wanted)
    return Matches(tuple(hit.match(hit.line.text) for hit in hits), few(notices), "python")


def _found_lines(wanted: Wanted, notices: list[str]) -> Iterator[FoundLine]:
    """The lines that match and those around them, as ripgrep prints them; what goes wrong is added to `notices`."""
    compiled = wanted.pattern.compiled()
    for note in note_files(wanted.root, notices):
        if time.monotonic() > wanted.deadline:
            notices.append(TOO_LONG)
            return
        try:
            with contextlib.closing(Source(wanted.root, note.path, wanted.size_limit)) as source:
                yield from _lines_of(note.path, source.lines(), compiled, wanted.context)
        except OSError as error:
            notices.append(f"{note.path}: {error.strerror}")


def _lines_of(
    path: str, lines: Iterable[str], compiled: Sequence[Compiled[str]], context: int
) -> Iterator[FoundLine]:
    recent: deque[tuple[int, str]] = deque(maxlen=context)  # those before, not yet shown
    shown_to = 0
    for number, line in enumerate(lines, 1):
        span = _first_span(line.removesuffix("\r"), compiled)
        if span is not None:
            yield from (FoundLine(path, at, False, excerpt(text, None, CONTEXT_CHARS)) for at, text in recent)
            recent.clear()
            yield FoundLine(path, number, True, excerpt(line, span))
            shown_to = number + context
        elif number <= shown_to:
            yield FoundLine(path, number, False, excerpt(line, None, CONTEXT_CHARS))
        else:
            recent.append((number, line[: 2 * CONTEXT_CHARS]))


def _first_span(line: str, compiled: Sequence[Compiled[str]]) -> tuple[int, int] | None:
    spans = [match.span() for expression in compiled if (match := expression.search(line))]
    return min(spans, default=None)
