"""What is on disk now: a light scan of the memory root that opens no file.

Dot-folders, hidden and temporary names are not looked at and symbolic links are not followed. What cannot be
looked at is unknown, never absent.
"""

from __future__ import annotations

import contextlib
import os
import stat as stat_modes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from vaultmem.errors import RootMissingError
from vaultmem.files import beneath
from vaultmem.notes.names import is_note_name, is_skipped_folder, placeholder_of

ROOT_ADVICE = "Mount or restore it, or point --root / MARCH_MEMORY_ROOT at the right folder."


@dataclass(frozen=True, slots=True)
class FileStat:
    """What a light scan knows about a file. Whatever changes its content changes at least one of these."""

    size: int  # bytes
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileStat:
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


NO_FILE = FileStat(0, 0, 0, 0)
"""Of what could not be looked at, or is only a cloud stub."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The notes on disk, as far as a scan could see.

    Whatever lies at or under an `unknown` path could not be looked at and must not be taken for deleted.
    """

    files: Mapping[str, FileStat]
    unknown: Mapping[str, str]  # path of a file or folder → reason
    placeholders: tuple[str, ...]  # notes of which only a cloud stub (`.name.md.icloud`) is there
    scope: tuple[str, ...] | None  # None: the whole root; else the paths that were asked for


def take_snapshot(root: Path, paths: Iterable[str] | None = None, *, advice: str = ROOT_ADVICE) -> Snapshot:
    """Look at the whole root, or at some paths: each a file, a folder, or something that is gone.

    Raises RootMissingError, with `advice`: the root is gone, no folder, unreadable, or was swapped during the scan.
    """
    identity = root_identity(root, advice)
    scope = None if paths is None else _scope(paths)
    with contextlib.closing(_way_from(root, advice)) as way:
        walk = _Walk(way, root, advice)
        if scope is None:
            walk.folder("")
        else:
            for path in scope:
                walk.item(path)
    # A root that vanishes under the walk would look like a burst of deletions.
    if root_identity(root, advice) != identity:
        raise RootMissingError(f"the memory root {root} was replaced while it was read", advice=advice)
    placeholders = tuple(sorted(walk.stubs - walk.files.keys()))
    return Snapshot(MappingProxyType(walk.files), MappingProxyType(walk.unknown), placeholders, scope)


def root_identity(root: Path, advice: str = ROOT_ADVICE) -> tuple[int, int]:
    """Device and inode of the root. Raises RootMissingError when it is gone or no folder."""
    try:
        status = root.stat()
    except OSError as error:
        raise _unusable(root, reason_of(error), advice) from None
    if not stat_modes.S_ISDIR(status.st_mode):
        raise _unusable(root, "it is not a folder", advice)
    return status.st_dev, status.st_ino


def check_readable(root: Path, advice: str = ROOT_ADVICE) -> None:
    """Raise RootMissingError when `root` is gone, no folder, or cannot be listed."""
    root_identity(root, advice)
    try:
        os.scandir(root).close()
    except OSError as error:
        raise _unusable(root, reason_of(error), advice) from None


def reason_of(error: OSError) -> str:
    """Why the system refused, without the path."""
    return (error.strerror or str(error)).lower()


def _unusable(root: str | Path, reason: str, advice: str) -> RootMissingError:
    return RootMissingError(f"the memory root {root} cannot be used: {reason}", advice=advice)


def _scope(paths: Iterable[str]) -> tuple[str, ...] | None:
    """Tidy the asked-for paths; None (everything) when the root itself is among them."""
    scope = set()
    for path in paths:
        tidy = path.strip("/")
        if tidy in ("", "."):
            return None
        folder, _, name = tidy.rpartition("/")
        if note := placeholder_of(name):
            tidy = f"{folder}/{note}" if folder else note
        if beneath.is_beneath(tidy):
            scope.add(_printable(tidy))
    return tuple(sorted(scope))


def _printable(path: str) -> str:
    """A path as it can be stored and shown: bytes that are not UTF-8 become `\\xff` escapes."""
    if path.isascii():
        return path
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _way_from(root: Path, advice: str) -> beneath.Way:
    try:
        return beneath.Way(root)
    except OSError as error:
        raise _unusable(root, reason_of(error), advice) from None


@dataclass(slots=True)
class _Walk:
    """One scan in the making."""

    way: beneath.Way
    root: Path
    advice: str
    files: dict[str, FileStat] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    stubs: set[str] = field(default_factory=set)

    def item(self, path: str) -> None:
        """Look at one path that was asked for: a file, a folder, something gone, or nothing of ours."""
        if any(is_skipped_folder(part) for part in path.split("/")):
            return
        try:
            *parents, name = beneath.parts_of(path)
            folder = self.way.to("/".join(parents))
            if self._look_at(folder, name, path):
                self.folder(path)
        except (FileNotFoundError, NotADirectoryError, beneath.LinkOnTheWayError):
            return
        except OSError as error:
            self.unknown[path] = reason_of(error)

    def _look_at(self, folder: int, name: str, path: str) -> bool:
        """Look at what has this name; whether it is a folder. Raises OSError."""
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            if is_note_name(name) and beneath.exists(folder, f".{name}.icloud"):
                self.stubs.add(path)
            return False
        if stat_modes.S_ISREG(status.st_mode) and is_note_name(name):
            self.files[path] = FileStat.of(status)
        return stat_modes.S_ISDIR(status.st_mode)

    def folder(self, path: str) -> None:
        """Look at a folder, "" for the root, and all below it."""
        pending = [path]
        while pending:
            path = pending.pop()
            try:
                with os.scandir(self.way.to(path)) as entries:
                    for entry in entries:
                        self._entry(entry, f"{path}/" if path else "", pending)
            except OSError as error:
                if not path:
                    raise _unusable(self.root, reason_of(error), self.advice) from None
                if not isinstance(error, FileNotFoundError | beneath.LinkOnTheWayError):
                    self.unknown[path] = reason_of(error)

    def _entry(self, entry: os.DirEntry[str], prefix: str, pending: list[str]) -> None:
        name = entry.name
        if name[0] == ".":
            if stubbed := placeholder_of(name):
                self.stubs.add(_printable(prefix + stubbed))
            return
        path = prefix + name
        try:
            if entry.is_dir(follow_symlinks=False):
                if self._is_utf8(path):
                    pending.append(path)
            elif is_note_name(name) and entry.is_file(follow_symlinks=False) and self._is_utf8(path):
                self.files[path] = FileStat.of(entry.stat(follow_symlinks=False))
        except FileNotFoundError:
            return
        except OSError as error:
            self.unknown[_printable(path)] = reason_of(error)

    def _is_utf8(self, path: str) -> bool:
        """Names that are not UTF-8 can be neither stored nor shown; they are reported by an escaped name."""
        if path.isascii() or (printable := _printable(path)) == path:
            return True
        self.unknown[printable] = "its name is not UTF-8; rename it"
        return False
