"""The notes below a root, and the bytes of each: opened by us, part by part, through no link.

Whoever searches by path walks that path anew: between a look and the opening, a link may lie in a folder's place.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from vaultmem.files import beneath
from vaultmem.notes.names import is_note_name, is_skipped_folder

MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A note as its folder lists it."""

    path: str
    size: int


def note_files(root: Path, notices: list[str]) -> Iterator[NoteFile]:
    """Every note, the last path first; what cannot be looked at is added to `notices`."""
    try:
        start = beneath.Way(root)
    except OSError as error:
        notices.append(f".: {error.strerror}")
        return
    pending = [("", True, 0)]  # path, whether it is a folder, size
    with contextlib.closing(start) as way:
        while pending:
            path, is_folder, size = pending.pop()
            if not is_folder:
                yield NoteFile(path, size)
                continue
            try:
                pending += _items(way.to(path), f"{path}/" if path else "")
            except OSError as error:
                notices.append(f"{path or '.'}: {error.strerror}")


def _items(folder: int, prefix: str) -> list[tuple[str, bool, int]]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: os.fsencode(entry.name))
        return [item for entry in found if (item := _item(prefix + entry.name, entry))]


def _item(path: str, entry: os.DirEntry[str]) -> tuple[str, bool, int] | None:
    if entry.is_dir(follow_symlinks=False):
        return None if is_skipped_folder(entry.name) else (path, True, 0)
    if not is_note_name(entry.name) or not entry.is_file(follow_symlinks=False):
        return None
    try:
        return path, False, entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:
        return None  # gone since


class Source:
    """One note's bytes; `close` lets go of the file."""

    def __init__(self, root: Path, path: str, size_limit: int) -> None:
        """Open it. Raises OSError, also for what is no regular file, or larger than `size_limit`."""
        self._descriptor = beneath.open_file(root, path)
        self._text: bytes | None = None
        try:
            if os.fstat(self._descriptor).st_size > size_limit:
                raise OSError(errno.EFBIG, too_large(size_limit))
            self._encoding, self._start = self._marked()
        except BaseException:
            self.close()
            raise

    def _marked(self) -> tuple[str, int]:
        head = os.pread(self._descriptor, 3, 0)
        marks = ((encoding, len(mark)) for mark, encoding in MARKS if head.startswith(mark))
        return next(marks, ("utf-8", 0))

    @property
    def _is_utf16(self) -> bool:
        return self._encoding != "utf-8"

    def lines(self) -> Iterator[str]:
        """Its lines, one at a time: `\\n` ends a line, nothing else."""
        if self._is_utf16:
            text = self._translated().decode("utf-8", "replace")
            yield from text.removesuffix("\n").split("\n")
            return
        with self._file() as file:
            file.seek(self._start)
            for line in file:
                yield line.removesuffix(b"\n").decode("utf-8", "replace")

    def at(self, offset: int, size: int) -> bytes:
        """Bytes from `offset` on, both counted as ripgrep does: behind a byte order mark, UTF-16 in UTF-8."""
        if self._is_utf16:
            return self._translated()[offset : offset + size]
        return os.pread(self._descriptor, size, self._start + offset)

    def _translated(self) -> bytes:
        if self._text is None:
            with self._file() as file:
                file.seek(self._start)
                self._text = file.read().decode(self._encoding, "replace").encode()
        return self._text

    def _file(self) -> IO[bytes]:
        return os.fdopen(os.dup(self._descriptor), "rb")

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def too_large(size_limit: int) -> str:
    """Why a note is left out."""
    return f"not searched, it is larger than {size_limit // 1024**2} MiB"
