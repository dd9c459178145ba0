"""The memory root on disk: the only module that reads and writes user Markdown.

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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

from vaultmem.errors import ConcurrentChangeError, EditRefusedError, NoteNotFoundError, RefusedError
from vaultmem.files import atomic
from vaultmem.files.snapshot import (
    NO_FILE,
    ROOT_ADVICE,
    FileStat,
    Snapshot,
    check_readable,
    reason_of,
    root_identity,
    take_snapshot,
)
from vaultmem.notes.names import is_note_name, is_skipped_folder
from vaultmem.notes.parse import PIECE_BYTES, Intake, Note, unknown_note
from vaultmem.notes.problems import Code

T = TypeVar("T")

NOTE_LIMIT_BYTES = 256 * 1024 * 1024
READ_TRIES = 4
READ_PAUSE_S = 0.02
LEFTOVER_AGE_S = 600.0


@dataclass(frozen=True, slots=True)
class Reading:
    """A note as it was read, with the stat values that go with its bytes."""

    note: Note
    stat: FileStat


class Vault:
    """The notes under one memory root. `root_advice` is what to do when that is gone, where there is more to say."""

    def __init__(self, root: Path, root_advice: str = "") -> None:
        self.root = root
        self._root_advice = root_advice or ROOT_ADVICE

    # --- looking

    def scan(self, paths: Iterable[str] | None = None) -> Snapshot:
        """Look at the whole root, or at some paths: each a file, a folder, or something that is gone.

        Raises RootMissingError when the root is gone, no folder, unreadable, or was swapped during the scan.
        """
        return take_snapshot(self.root, paths, advice=self._root_advice)

    def stat(self, path: str) -> FileStat | None:
        """The state of one note's file; None when it is gone, a link, or cannot be looked at."""
        try:
            status = self.resolve(path).lstat()
        except (OSError, NoteNotFoundError):
            return None
        return FileStat.of(status) if stat_modes.S_ISREG(status.st_mode) else None

    def read(self, path: str) -> tuple[bytes, FileStat]:
        """Read a file whole, with its state at that time; read again when it changes meanwhile.

        Raises NoteNotFoundError when there is no such file, RefusedError when it cannot be read or does not
        come to rest.
        """
        return self._read_at_rest(path, lambda file: file.read())

    def digest(self, path: str) -> str:
        """The digest of a file's bytes, which are not kept. Raises as `read`."""
        return self._read_at_rest(path, _taken_in)[0].digest

    def _read_at_rest(self, path: str, read: Callable[[IO[bytes]], T]) -> tuple[T, FileStat]:
        """What `read` makes of a file that does not change meanwhile, and its state at that time."""
        target = self.resolve(path)
        try:
            for _ in range(READ_TRIES):
                made, before, after = _read_once(target, read)
                if before == after:
                    return made, before
                time.sleep(READ_PAUSE_S)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.EISDIR):
                raise NoteNotFoundError(f"no note lies at {path}") from None
            raise RefusedError(f"cannot read {path}: {reason_of(error)}") from None
        raise RefusedError(f"cannot read {path}: it keeps changing", advice="Try again when it is saved.")

    def read_note(self, path: str, seen: FileStat = NO_FILE) -> Reading:
        """One note, read and parsed. What cannot be read is an unknown note, with the state that a scan has `seen`.

        Raises NoteNotFoundError when there is neither a file nor a cloud stub.
        """
        try:
            intake, state = self._read_at_rest(path, _taken_in)
        except NoteNotFoundError:
            if self._has_stub(path):
                detail = "its content is still in the cloud"
                return Reading(unknown_note(path, Code.CLOUD_PLACEHOLDER, detail), seen)
            raise
        except RefusedError as error:
            reason = str(error).removeprefix(f"cannot read {path}: ")
            return Reading(unknown_note(path, Code.UNREADABLE, reason), seen)
        return Reading(intake.note(path), state)

    def note_at(self, path: str, seen: FileStat = NO_FILE) -> Reading | None:
        """The same, or None where there is none: it may have vanished since somebody saw it."""
        try:
            return self.read_note(path, seen)
        except NoteNotFoundError:
            return None

    def resolve(self, path: str) -> Path:
        """The place of a path, which need not exist.

        Raises NoteNotFoundError when it leaves the root, is hidden or passes a symbolic link.
        """
        parts = path.split("/")
        if "\0" in path or any(part in ("", ".", "..") for part in parts):
            raise NoteNotFoundError(f"{path!r} is not a path inside the memory root")
        if any(is_skipped_folder(part) for part in parts):
            raise NoteNotFoundError(f"{path!r} is hidden: names that begin with a dot are never notes")
        place = os.fspath(self.root)
        for part in parts:
            place = f"{place}/{part}"
            if _is_link(place):
                raise _LinkOnTheWayError(f"{path!r} passes a symbolic link, and links are not followed")
        return Path(place)

    def identity(self) -> str:
        """What tells this folder from another one at the same path. Raises RootMissingError."""
        device, inode = root_identity(self.root, self._root_advice)
        return f"{device}:{inode}"

    def check_readable(self) -> None:
        """Raise RootMissingError when the root is gone, no folder, or cannot be listed."""
        check_readable(self.root, self._root_advice)

    # --- writing

    def replace(self, path: str, before: bytes, after: bytes) -> FileStat:
        """Put `after` in the place of a note that still holds `before`; the file's mode stays.

        Raises ConcurrentChangeError when the file holds something else by now, EditRefusedError for a link,
        NoteNotFoundError, RefusedError when it cannot be written. In each case the note is untouched.
        """
        target = self._writable(path)
        try:
            if not target.lstat().st_mode & 0o222:
                raise PermissionError(errno.EACCES, "the file is write-protected")
            written = atomic.replace(target, after, only_if=lambda: _holds(target, before))
        except FileNotFoundError:
            raise NoteNotFoundError(f"no note lies at {path} any more") from None
        except OSError as error:
            raise RefusedError(f"cannot write {path}: {reason_of(error)}") from None
        if written is None:
            message = f"{path} changed since it was read; nothing was written"
            raise ConcurrentChangeError(message, advice="Look at it again and repeat the edit.")
        return FileStat.of(written)

    def create(self, path: str, data: bytes) -> str:
        """Write a new note at `path`, or with `-2`, `-3`… behind its stem when that is taken; return its path.

        A name is also taken when a cloud stub stands for it. Nothing is ever overwritten. Raises
        RootMissingError, NoteNotFoundError for a path outside the root, RefusedError.
        """
        if not is_note_name(path.rpartition("/")[2]):
            advice = "It must end in .md and not begin with a dot."
            raise RefusedError(f"{path!r} is no name for a note", advice=advice)
        root_identity(self.root, self._root_advice)
        folder = self._writable(path).parent
        try:
            atomic.make_folders(self.root, folder)
            return next(
                candidate
                for candidate in _numbered(path[:-3], "-", path[-3:])
                if not self._has_stub(candidate) and atomic.create(self._writable(candidate), data)
            )
        except OSError as error:
            raise RefusedError(f"cannot write {path}: {reason_of(error)}") from None

    def trash(self, path: str) -> Path:
        """Move a note into the `.trash` of its Obsidian vault; return where it lies now.

        The vault is the nearest folder upward that holds `.obsidian`. Raises RefusedError when there is none.
        """
        source, folder = self._writable(path), self.trash_folder(path)
        try:
            folder.mkdir(exist_ok=True)
            return next(
                folder / name
                for name in _numbered(source.stem, " ", source.suffix)
                if atomic.move(source, folder / name)
            )
        except FileNotFoundError:
            raise NoteNotFoundError(f"no note lies at {path}") from None
        except OSError as error:
            raise RefusedError(f"cannot move {path} to the trash: {reason_of(error)}") from None

    def trash_folder(self, path: str) -> Path:
        """The `.trash` of the vault that a note belongs to. Raises RefusedError when there is none."""
        root = self.root.resolve()
        for folder in (root, *root.parents):
            if (folder / ".obsidian").is_dir():
                return folder / ".trash"
        message = f"{path} lies in no Obsidian vault, so there is no trash for it"
        raise RefusedError(message, advice="Delete the file yourself.")

    def restore(self, trashed: Path, path: str) -> None:
        """Move a note from the trash back to its path. Raises RefusedError when something lies there by now."""
        target = self._writable(path)
        try:
            trashed.lstat()
            atomic.make_folders(self.root, target.parent)
            is_moved = atomic.move(trashed, target)
        except FileNotFoundError:
            raise NoteNotFoundError(f"{trashed} is no longer there") from None
        except OSError as error:
            raise RefusedError(f"cannot restore {path}: {reason_of(error)}") from None
        if not is_moved:
            raise RefusedError(f"cannot restore {path}: another file lies there by now")

    def sweep_leftovers(self, older_than_s: float = LEFTOVER_AGE_S) -> int:
        """Delete temporary files that a killed write left behind; return how many."""
        count = 0
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if not is_skipped_folder(name)]
            for leftover in (Path(folder, name) for name in names if atomic.is_temporary(name)):
                with contextlib.suppress(OSError):
                    if time.time() - leftover.lstat().st_mtime >= older_than_s:
                        leftover.unlink()
                        count += 1
        return count

    # --- inside

    def _writable(self, path: str) -> Path:
        try:
            return self.resolve(path)
        except _LinkOnTheWayError as error:
            raise EditRefusedError(str(error)) from None

    def _has_stub(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        return os.path.lexists(self.root / folder / f".{name}.icloud")


class _LinkOnTheWayError(NoteNotFoundError):
    """A path leads over a symbolic link: for a reader nothing is there, a writer gets a refusal."""


def _is_link(place: str) -> bool:
    try:
        return stat_modes.S_ISLNK(os.lstat(place).st_mode)
    except OSError:  # whoever opens it will say what is wrong with it
        return False


def _taken_in(file: IO[bytes]) -> Intake:
    intake = Intake()
    while piece := file.read(PIECE_BYTES):
        intake.add(piece)
    return intake


def _read_once(target: Path, read: Callable[[IO[bytes]], T]) -> tuple[T, FileStat, FileStat]:
    """What was read with the file's state before and after. Raises OSError."""
    # O_NONBLOCK: a named pipe called x.md must not stop everything.
    descriptor = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat_modes.S_ISREG(status.st_mode):
            raise FileNotFoundError(errno.ENOENT, "not a regular file")
        if status.st_size > NOTE_LIMIT_BYTES:
            raise OSError(errno.EFBIG, f"it is larger than {NOTE_LIMIT_BYTES // 1024**2} MiB")
        made = read(file)
        is_whole = file.tell() == status.st_size  # else it grew or shrank, and perhaps back again
        return made, FileStat.of(status), FileStat.of(os.fstat(descriptor)) if is_whole else NO_FILE


def _holds(target: Path, expected: bytes) -> bool:
    try:
        return _read_once(target, lambda file: file.read())[0] == expected
    except OSError:
        return False


def _numbered(stem: str, joint: str, suffix: str) -> Iterator[str]:
    """A name, then the same with 2, 3… for ever."""
    yield stem + suffix
    number = 2
    while True:
        yield f"{stem}{joint}{number}{suffix}"
        number += 1
