"""Text search without ripgrep: the same notes in the same order, read with Python.

Regular expressions are those of Python's `re`, not ripgrep's: no `\\p{…}`, no nested classes,
look-around and back-references instead, and an expression that backtracks without end is stopped only
between two notes.
"""

from __future__ import annotations

import codecs
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from re import Pattern as Compiled

from vaultmem.notes.names import is_note_name, is_skipped_folder
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

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def search_by_python(wanted: Wanted, *warnings: str) -> Matches:
    """The matches, and `warnings` before its own. Raises UsageError for a pattern that Python cannot read."""
    notices = list(warnings)
    hits = collect(_found_lines(wanted, notices), wanted)
    return Matches(tuple(hit.match(hit.line.text) for hit in hits), few(notices), "python")


def _found_lines(wanted: Wanted, notices: list[str]) -> Iterator[FoundLine]:
    """The lines that match and those around them, as ripgrep prints them; what goes wrong is added to `notices`."""
    compiled = wanted.pattern.compiled()
    for path in _note_paths(wanted.root, "", notices):
        if time.monotonic() > wanted.deadline:
            notices.append(TOO_LONG)
            return
        try:
            data = (wanted.root / path).read_bytes()
        except OSError as error:
            notices.append(f"{path}: {error.strerror}")
            continue
        yield from _lines_of(path, _decoded(data), compiled, wanted.context)


def _note_paths(root: Path, folder: str, notices: list[str]) -> Iterator[str]:
    try:
        with os.scandir(root / folder) as found:
            entries = sorted(found, key=lambda entry: os.fsencode(entry.name), reverse=True)
    except OSError as error:
        notices.append(f"{folder or '.'}: {error.strerror}")
        return
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        if entry.is_dir(follow_symlinks=False):
            if not is_skipped_folder(entry.name):
                yield from _note_paths(root, path, notices)
        elif is_note_name(entry.name) and entry.is_file(follow_symlinks=False):
            yield path


def _decoded(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    return data.decode("utf-8", "replace")


def _lines_of(path: str, text: str, compiled: Sequence[Compiled[str]], context: int) -> Iterator[FoundLine]:
    lines = text.removesuffix("\n").split("\n")
    shown_to = 0
    for index, line in enumerate(lines):
        span = _first_span(line.removesuffix("\r"), compiled)
        if span is None:
            if index < shown_to:
                yield FoundLine(path, index + 1, False, excerpt(line, None, CONTEXT_CHARS))
            continue
        for number in range(max(index - context, shown_to), index):
            yield FoundLine(path, number + 1, False, excerpt(lines[number], None, CONTEXT_CHARS))
        yield FoundLine(path, index + 1, True, excerpt(line, span))
        shown_to = index + 1 + context


def _first_span(line: str, compiled: Sequence[Compiled[str]]) -> tuple[int, int] | None:
    spans = [match.span() for expression in compiled if (match := expression.search(line))]
    return min(spans, default=None)
