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
from vaultmem.search.lines import CONTEXT_CHARS, FoundLine, excerpt
from vaultmem.search.patterns import Pattern

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def found_lines(
    root: Path, pattern: Pattern, context: int, deadline: float, warnings: list[str]
) -> Iterator[FoundLine]:
    """Yield the lines that match and those around them, as ripgrep prints them; problems go to `warnings`.

    `deadline` is a time of `time.monotonic`. Raises UsageError for a pattern that Python cannot read.
    """
    compiled = pattern.compiled()
    for path in _note_paths(root, "", warnings):
        if time.monotonic() > deadline:
            warnings.append("the search took too long and was stopped: some notes were not searched")
            return
        try:
            data = (root / path).read_bytes()
        except OSError as error:
            warnings.append(f"{path}: {error.strerror}")
            continue
        yield from _lines_of(path, _decoded(data), compiled, context)


def _note_paths(root: Path, folder: str, warnings: list[str]) -> Iterator[str]:
    try:
        with os.scandir(root / folder) as found:
            entries = sorted(found, key=lambda entry: os.fsencode(entry.name), reverse=True)
    except OSError as error:
        warnings.append(f"{folder or '.'}: {error.strerror}")
        return
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        if entry.is_dir(follow_symlinks=False):
            if not is_skipped_folder(entry.name):
                yield from _note_paths(root, path, warnings)
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
