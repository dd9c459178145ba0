"""The memory root on disk: the only module that touches user Markdown.

Paths are texts relative to the root with `/` between the parts. Symbolic links are never followed, in reading,
scanning or writing; dot-folders do not exist for it. A write is: a temporary file beside the note, fsync, a last
look whether the note is still what was read, then an atomic replace.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat as stat_modes
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Mapping

from vaultmem import atomic
from vaultmem.errors import (
    ConcurrentChangeError,
    EditRefusedError,
    NoteNotFoundError,
    RefusedError,
    RootMissingError,
)
from vaultmem.names import is_note_name, is_skipped_folder, placeholder_of
from vaultmem.notes import Code, Note, parse_note, unknown_note

READ_LIMIT_BYTES = 256 * 1024 * 1024
READ_TRIES = 4
READ_PAUSE_S = 0.02
LEFTOVER_AGE_S = 600.0


@dataclass(frozen=True, slots=True)
class FileStat:
    """What a light scan knows about a file. Any change of content changes at least one of these."""

    size: int  # bytes
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileStat:
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is on disk now, as far as a scan could see.

    Whatever lies at or under an `unknown` path could not be looked at and must not be taken for deleted.
    """

    files: Mapping[str, FileStat]
    unknown: Mapping[str, str]  # path of a file or folder → reason
    placeholders: tuple[str, ...]  # notes of which only a cloud stub (`.name.md.icloud`) is there
    scope: tuple[str, ...] | None  # None: the whole root; else the paths that were asked for


class Vault:
    """The notes under one memory root."""

    def __init__(self, root: Path) -> None:
        self.root = root

    # -------------------------------------------------------------------------------------- looking

    def scan(self, paths: Iterable[str] | None = None) -> Snapshot:
        """Look at the whole root, or at some paths: each a file, a folder, or something that is gone.

        Raises RootMissingError when the root is gone, no folder, unreadable, or was swapped during the scan.
        """
        identity = self._root_identity()
        scope = None if paths is None else _scope(paths)
        walk = _Walk(os.fspath(self.root))
        if scope is None:
            walk.folder("", is_root=True)
        else:
            for path in scope:
                walk.item(path)
        # A root that vanished under the walk would look like a burst of deletions.
        if self._root_identity() != identity:
            raise self._root_missing("it was replaced while it was read")
        return Snapshot(
            MappingProxyType(walk.files),
            MappingProxyType(walk.unknown),
            tuple(sorted(walk.stubs - walk.files.keys())),
            scope,
        )

    def stat(self, path: str) -> FileStat | None:
        """Return the state of one note's file; None when it is gone, a link, or cannot be looked at."""
        try:
            status = os.lstat(self.resolve(path))
        except (OSError, NoteNotFoundError):
            return None
        return FileStat.of(status) if stat_modes.S_ISREG(status.st_mode) else None

    def read(self, path: str) -> tuple[bytes, FileStat]:
        """Read a file whole, and its state at that time; read again when it changes meanwhile.

        Raises NoteNotFoundError when there is no such file, RefusedError when it cannot be read or does not
        come to rest.
        """
        target = self.resolve(path)
        try:
            for _ in range(READ_TRIES):
                data, before, after = _read_once(target)
                if before == after and len(data) == before.size:
                    return data, before
                time.sleep(READ_PAUSE_S)
        except FileNotFoundError:
            raise NoteNotFoundError(f"no note lies at {path}") from None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR):
                raise NoteNotFoundError(f"no note lies at {path}") from None
            raise RefusedError(f"cannot read {path}: {_reason(error)}") from None
        raise RefusedError(f"cannot read {path}: it keeps changing", advice="try again when it is saved")

    def read_note(self, path: str) -> tuple[Note, FileStat | None]:
        """Read and parse one note. What cannot be read comes back as an unknown note, without a state.

        Raises NoteNotFoundError when there is neither a file nor a cloud stub.
        """
        try:
            data, state = self.read(path)
        except NoteNotFoundError:
            if self._has_stub(path):
                return unknown_note(path, Code.CLOUD_PLACEHOLDER, "its content is still in the cloud"), None
            raise
        except RefusedError as error:
            return unknown_note(path, Code.UNREADABLE, str(error).partition(": ")[2]), None
        return parse_note(path, data), state

    def resolve(self, path: str) -> Path:
        """Return the place of a path. Raises NoteNotFoundError when it leaves the root, is hidden or passes a link."""
        parts = path.split("/")
        if not path or "\0" in path or any(part in ("", ".", "..") for part in parts):
            raise NoteNotFoundError(f"{path!r} is not a path inside the memory root")
        if any(is_skipped_folder(part) for part in parts):
            raise NoteNotFoundError(f"{path!r} is hidden: names that begin with a dot are never notes")
        place = self.root
        for part in parts:
            place = place / part
            if place.is_symlink():
                raise NoteNotFoundError(f"{path!r} passes a symbolic link, and links are not followed")
        return place

    # -------------------------------------------------------------------------------------- writing

    def replace(self, path: str, before: bytes, after: bytes) -> FileStat:
        """Put `after` in the place of a note that still holds `before`; the file's mode stays.

        Raises ConcurrentChangeError when the file holds something else by now, EditRefusedError for a link,
        RefusedError when it cannot be written. In each case the note is untouched.
        """
        target = self._writable(path)

        def is_unchanged() -> bool:
            try:
                return target.read_bytes() == before
            except OSError:
                return False

        try:
            written = atomic.replace(target, after, only_if=is_unchanged)
        except OSError as error:
            raise RefusedError(f"cannot write {path}: {_reason(error)}") from None
        if written is None:
            advice = "look at it again and repeat the edit"
            raise ConcurrentChangeError(
                f"{path} changed since it was read; nothing was written", advice=advice
            )
        return FileStat.of(written)

    def create(self, path: str, data: bytes) -> str:
        """Write a new note at `path`, or with `-2`, `-3`… behind its stem when that is taken; return its path.

        A name is also taken when a cloud stub stands for it. Nothing is ever overwritten.
        """
        if not is_note_name(path.rpartition("/")[2]):
            raise RefusedError(
                f"{path!r} is no name for a note", advice="it must end in .md and not begin with a dot"
            )
        self._root_identity()
        target = self.resolve(path)
        stem = path[:-3]
        try:
            atomic.make_folders(self.root, target.parent)
            for candidate in _numbered(stem, path[-3:]):
                if not self._has_stub(candidate) and atomic.create(self.resolve(candidate), data):
                    return candidate
        except OSError as error:
            raise RefusedError(f"cannot write {path}: {_reason(error)}") from None
        raise RefusedError(f"no free file name for {path}")  # pragma: no cover - _numbered does not end

    def trash(self, path: str) -> Path:
        """Move a note into the `.trash` of its Obsidian vault; return where it lies now.

        The vault is the nearest folder upward that holds `.obsidian`. Raises RefusedError when there is none.
        """
        source = self._writable(path)
        vault = self._obsidian_vault()
        if vault is None:
            advice = "delete the file yourself"
            raise RefusedError(
                f"{path} lies in no Obsidian vault, so there is no trash for it", advice=advice
            )
        try:
            (vault / ".trash").mkdir(exist_ok=True)
            for name in _numbered(source.stem, source.suffix, joint=" "):
                if atomic.move(source, vault / ".trash" / name):
                    return vault / ".trash" / name
        except FileNotFoundError:
            raise NoteNotFoundError(f"no note lies at {path}") from None
        except OSError as error:
            raise RefusedError(f"cannot move {path} to the trash: {_reason(error)}") from None
        raise RefusedError(
            f"no free name in the trash for {path}"
        )  # pragma: no cover - _numbered does not end

    def restore(self, trashed: Path, path: str) -> None:
        """Move a note from the trash back to its path. Raises RefusedError when something lies there by now."""
        target = self.resolve(path)
        try:
            atomic.make_folders(self.root, target.parent)
            is_moved = atomic.move(trashed, target)
        except FileNotFoundError:
            raise NoteNotFoundError(f"{trashed} is no longer there") from None
        except OSError as error:
            raise RefusedError(f"cannot restore {path}: {_reason(error)}") from None
        if not is_moved:
            raise RefusedError(f"cannot restore {path}: another file lies there by now")

    def sweep_leftovers(self, older_than_s: float = LEFTOVER_AGE_S) -> int:
        """Delete temporary files that a killed write left behind; return how many."""
        count = 0
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if not is_skipped_folder(name)]
            for name in filter(atomic.is_temporary, names):
                leftover = Path(folder, name)
                with contextlib.suppress(OSError):
                    if time.time() - leftover.lstat().st_mtime >= older_than_s:
                        leftover.unlink()
                        count += 1
        return count

    # -------------------------------------------------------------------------------------- inside

    def identity(self) -> str:
        """Tell this folder from another one at the same path. Raises RootMissingError."""
        device, inode = self._root_identity()
        return f"{device}:{inode}"

    def _root_identity(self) -> tuple[int, int]:
        try:
            status = self.root.stat()
        except OSError as error:
            raise self._root_missing(_reason(error)) from None
        if not stat_modes.S_ISDIR(status.st_mode):
            raise self._root_missing("it is not a folder")
        return status.st_dev, status.st_ino

    def _root_missing(self, reason: str) -> RootMissingError:
        advice = "mount or restore it, or point --root / MARCH_MEMORY_ROOT at the right folder"
        return RootMissingError(f"the memory root {self.root} cannot be used: {reason}", advice=advice)

    def _writable(self, path: str) -> Path:
        try:
            return self.resolve(path)
        except NoteNotFoundError as error:
            if "link" in str(error):
                raise EditRefusedError(str(error)) from None
            raise

    def _has_stub(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        return os.path.lexists(os.path.join(self.root, folder, f".{name}.icloud"))

    def _obsidian_vault(self) -> Path | None:
        root = self.root.resolve()
        return next((folder for folder in (root, *root.parents) if (folder / ".obsidian").is_dir()), None)


@dataclass(slots=True)
class _Walk:
    """One scan in the making."""

    root: str
    files: dict[str, FileStat] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    stubs: set[str] = field(default_factory=set)
    _links: dict[str, bool] = field(default_factory=dict)

    def item(self, path: str) -> None:
        """Look at one path that was asked for: a file, a folder, something gone, or nothing of ours."""
        if not path:
            self.folder("", is_root=True)
            return
        if any(is_skipped_folder(part) for part in path.split("/")):
            return
        try:
            if self._passes_link(path):
                return
            status = os.lstat(f"{self.root}/{path}")
        except (FileNotFoundError, NotADirectoryError):
            self._look_for_stub(path)
            return
        except OSError as error:
            self.unknown[path] = _reason(error)
            return
        except ValueError:
            return  # a NUL in the path: no such file can exist
        if stat_modes.S_ISDIR(status.st_mode):
            self.folder(path + "/")
        elif stat_modes.S_ISREG(status.st_mode) and is_note_name(path.rpartition("/")[2]):
            self.files[path] = FileStat.of(status)

    def folder(self, prefix: str, *, is_root: bool = False) -> None:
        """Look at a folder and all below; `prefix` is "" or ends in a slash. No recursion: depth costs nothing."""
        pending = [prefix]
        while pending:
            prefix = pending.pop()
            try:
                with os.scandir(f"{self.root}/{prefix}") as entries:
                    for entry in entries:
                        self._entry(entry, prefix, pending)
            except FileNotFoundError:
                if not prefix and is_root:
                    raise RootMissingError(f"the memory root {self.root} is gone") from None
            except OSError as error:
                if not prefix:
                    raise RootMissingError(
                        f"the memory root {self.root} cannot be read: {_reason(error)}"
                    ) from None
                self.unknown[prefix[:-1]] = _reason(error)

    def _entry(self, entry: os.DirEntry[str], prefix: str, pending: list[str]) -> None:
        name = entry.name
        if name[0] == ".":
            if stubbed := placeholder_of(name):
                self.stubs.add(prefix + stubbed)
            return
        path = prefix + name
        try:
            if name[-3:].lower() == ".md" and entry.is_file(follow_symlinks=False):
                if is_note_name(name) and self._is_utf8(path):
                    status = entry.stat(follow_symlinks=False)
                    self.files[path] = FileStat(
                        status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
                    )
            elif entry.is_dir(follow_symlinks=False) and self._is_utf8(path):
                pending.append(path + "/")
        except FileNotFoundError:
            return
        except OSError as error:
            self.unknown[path] = _reason(error)

    def _is_utf8(self, path: str) -> bool:
        """Names that are not UTF-8 cannot be stored or shown; they are reported under an escaped name."""
        if path.isascii():
            return True
        try:
            path.encode()
        except UnicodeEncodeError:
            self.unknown[path.encode(errors="backslashreplace").decode()] = (
                "its name is not valid UTF-8; rename it"
            )
            return False
        return True

    def _passes_link(self, path: str) -> bool:
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            place = "/".join(parts[:end])
            if place not in self._links:
                self._links[place] = stat_modes.S_ISLNK(os.lstat(f"{self.root}/{place}").st_mode)
            if self._links[place]:
                return True
        return False

    def _look_for_stub(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        if is_note_name(name) and os.path.lexists(f"{self.root}/{folder}/.{name}.icloud"):
            self.stubs.add(path)


def _scope(paths: Iterable[str]) -> tuple[str, ...] | None:
    """Tidy the asked-for paths; None (everything) when the root itself is among them."""
    scope = set()
    for path in paths:
        tidy = path.strip("/")
        if tidy in ("", "."):
            return None
        parts = tidy.split("/")
        if any(part in ("", ".", "..") for part in parts):
            continue
        if note := placeholder_of(parts[-1]):
            tidy = "/".join((*parts[:-1], note))
        with contextlib.suppress(UnicodeEncodeError):
            tidy.encode()
            scope.add(tidy)
    return tuple(sorted(scope))


def _read_once(target: Path) -> tuple[bytes, FileStat, FileStat]:
    # O_NONBLOCK: a named pipe called x.md must not stop the scan.
    descriptor = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat_modes.S_ISREG(status.st_mode):
            raise FileNotFoundError(errno.ENOENT, "not a regular file")
        if status.st_size > READ_LIMIT_BYTES:
            raise OSError(errno.EFBIG, f"it is larger than {READ_LIMIT_BYTES // 1024**2} MiB")
        data = file.read(READ_LIMIT_BYTES)
        return data, FileStat.of(status), FileStat.of(os.fstat(descriptor))


def _numbered(stem: str, suffix: str, joint: str = "-") -> Iterator[str]:
    yield stem + suffix
    number = 2
    while True:
        yield f"{stem}{joint}{number}{suffix}"
        number += 1


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
