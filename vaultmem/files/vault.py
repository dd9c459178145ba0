"""The memory root on disk: the only module that reads and writes user Markdown.

Paths are texts relative to the root with `/` between the parts. Symbolic links are never followed, in reading,
scanning or writing: folders are opened part by part, so that what was checked is what is read and written.
Dot-folders do not exist for it. A write is: a temporary file beside the note, fsync, a last look whether the note is
still what was read, then an exchange of the two, and a look at what came out.
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
from vaultmem.files import atomic, beneath, leftovers, lock, lost, replacement
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
TURN_FOLDER = ".vaultmem/turn"
TURN_WAIT_S = 10.0
LOST_ADVICE = "Look at both: `vaultmem doctor` shows the difference."

_NO_FILE_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENXIO})


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
            with self._folder_of(path) as (folder, name):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except (OSError, RefusedError):
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
        with _reading(path), self._folder_of(path) as (folder, name):
            for _ in range(READ_TRIES):
                made, before, after = _read_once(folder, name, read)
                if before == after:
                    return made, before
                time.sleep(READ_PAUSE_S)
        raise RefusedError(f"cannot read {path}: it keeps changing", advice="Try again when it is saved.")

    def read_note(self, path: str, seen: FileStat = NO_FILE) -> Reading:
        """One note, read and parsed. What cannot be read is an unknown note, with the state that a scan has `seen`.

        Raises NoteNotFoundError when there is neither a file nor a cloud stub.
        """
        try:
            intake, state = self._read_at_rest(path, _taken_in)
        except NoteNotFoundError:
            if self._is_stubbed(path):
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
        with (
            _refusing(f"cannot write {path}", f"no note lies at {path} any more"),
            self._folder_of(path) as (folder, name),
            self._turn(),
        ):
            if not os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode & 0o222:
                raise PermissionError(errno.EACCES, "the file is write-protected")
            done = replacement.replace(folder, name, before, after)
            kept = done.aside and self._keep(folder, done.aside, path)
        if kept:
            message = f"{path} was saved by somebody else at the same time; one version is kept as {kept}"
            raise ConcurrentChangeError(message, advice=LOST_ADVICE, kept=kept)
        if done.status is None:
            message = f"{path} changed since it was read; nothing was written"
            raise ConcurrentChangeError(message, advice="Look at it again and repeat the edit.")
        return FileStat.of(done.status)

    def create(self, path: str, data: bytes) -> str:
        """Write a new note at `path`, or with `-2`, `-3`… behind its stem when that is taken; return its path.

        A name is also taken when a cloud stub stands for it. Nothing is ever overwritten. Raises
        RootMissingError, NoteNotFoundError for a path outside the root, RefusedError.
        """
        if not is_note_name(path.rpartition("/")[2]):
            advice = "It must end in .md and not begin with a dot."
            raise RefusedError(f"{path!r} is no name for a note", advice=advice)
        root_identity(self.root, self._root_advice)
        with _refusing(f"cannot write {path}"), self._folder_of(path, make=0o777) as (folder, name):
            with contextlib.suppress(FileNotFoundError):
                _demand_file(folder, name)
            made = next(
                candidate
                for candidate in atomic.free_names(name)
                if not _has_stub(folder, candidate) and atomic.create(folder, candidate, data)
            )
        return path.removesuffix(name) + made

    def trash(self, path: str) -> Path:
        """Move a note into the `.trash` of its Obsidian vault; return where it lies now.

        The vault is the nearest folder upward that holds `.obsidian`. Raises RefusedError when there is none, or when
        its `.trash` is a link.
        """
        trash = self.trash_folder(path)
        with (
            _refusing(f"cannot move {path} to the trash", f"no note lies at {path}"),
            self._folder_of(path) as (folder, name),
            beneath.folder(trash.parent, trash.name, make=0o777) as target_folder,
        ):
            _demand_file(folder, name)
            moved = next(
                target
                for target in atomic.free_names(name, " ")
                if atomic.move(folder, name, target_folder, target)
            )
        return trash / moved

    def trash_folder(self, path: str) -> Path:
        """The `.trash` of the vault that a note belongs to. Raises RefusedError when there is none."""
        _refuse_hidden(path)
        root = self.root.resolve()
        for folder in (root, *root.parents):
            if (folder / ".obsidian").is_dir():
                return folder / ".trash"
        message = f"{path} lies in no Obsidian vault, so there is no trash for it"
        raise RefusedError(message, advice="Delete the file yourself.")

    def restore(self, trashed: Path, path: str) -> None:
        """Move a note from the trash back to its path. Raises RefusedError when something lies there by now."""
        trash = self.trash_folder(path)
        if trashed.parent != trash:
            raise RefusedError(f"{trashed} is not in the trash {trash}")
        with (
            _refusing(f"cannot restore {path}", f"{trashed} is no longer there"),
            beneath.folder(trash.parent, trash.name) as trash_folder,
        ):
            _demand_file(trash_folder, trashed.name)
            with self._folder_of(path, make=0o777) as (folder, name):
                is_moved = atomic.move(trash_folder, trashed.name, folder, name)
        if not is_moved:
            raise RefusedError(f"cannot restore {path}: another file lies there by now")

    def sweep_leftovers(self, older_than_s: float = LEFTOVER_AGE_S) -> int:
        """Delete what killed writes left behind, and keep what in it may be somebody's; return how many."""
        return leftovers.sweep(self.root, older_than_s)

    # --- inside

    @contextlib.contextmanager
    def _folder_of(self, path: str, *, make: int | None = None) -> Iterator[tuple[int, str]]:
        """A note's folder, opened below the root, and the note's name in it; `make`: missing folders are made.

        Raises NoteNotFoundError, OSError.
        """
        _refuse_hidden(path)
        parent, _, name = path.rpartition("/")
        with beneath.folder(self.root, parent, make=make) as folder:
            yield folder, name

    def _is_stubbed(self, path: str) -> bool:
        try:
            with self._folder_of(path) as (folder, name):
                return _has_stub(folder, name)
        except (OSError, NoteNotFoundError):
            return False

    def _turn(self) -> contextlib.AbstractContextManager[None]:
        return lock.turn(self.root, TURN_FOLDER, TURN_WAIT_S)

    def _keep(self, folder: int, aside: str, path: str) -> str:
        """Keep a version that lost its name; its place relative to the root."""
        parent, slash, name = path.rpartition("/")
        try:
            return lost.keep(self.root, folder, aside, name)
        except OSError:  # it stays beside its note
            return f"{parent}{slash}{aside}"


class _LinkOnTheWayError(NoteNotFoundError):
    """A path leads over a symbolic link: for a reader nothing is there, a writer gets a refusal."""


def _refuse_hidden(path: str) -> None:
    """Raise NoteNotFoundError for a path that leaves the root or is hidden."""
    if not beneath.is_beneath(path):
        raise NoteNotFoundError(f"{path!r} is not a path inside the memory root")
    if any(is_skipped_folder(part) for part in path.split("/")):
        raise NoteNotFoundError(f"{path!r} is hidden: names that begin with a dot are never notes")


@contextlib.contextmanager
def _reading(path: str) -> Iterator[None]:
    """What the system says against reading a note, as an error of ours."""
    try:
        yield
    except beneath.LinkOnTheWayError:
        raise _LinkOnTheWayError(f"{path!r} passes a symbolic link, and links are not followed") from None
    except OSError as error:
        if error.errno in _NO_FILE_THERE:
            raise NoteNotFoundError(f"no note lies at {path}") from None
        raise RefusedError(f"cannot read {path}: {reason_of(error)}") from None


@contextlib.contextmanager
def _refusing(refusal: str, absence: str | None = None) -> Iterator[None]:
    """What the system says against a write, as an error of ours; `absence` is what it means that something is gone."""
    try:
        yield
    except beneath.LinkOnTheWayError as error:
        message = f"{refusal}: {error.filename} is a symbolic link, and links are not followed"
        raise EditRefusedError(message) from None
    except OSError as error:
        if absence is not None and isinstance(error, FileNotFoundError):
            raise NoteNotFoundError(absence) from None
        raise RefusedError(f"{refusal}: {reason_of(error)}") from None


def _demand_file(folder: int, name: str) -> None:
    """Raise FileNotFoundError, or LinkOnTheWayError, for what is no regular file; it need not be readable."""
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat_modes.S_ISLNK(mode):
        raise beneath.LinkOnTheWayError(name)
    if not stat_modes.S_ISREG(mode):
        raise FileNotFoundError(errno.ENOENT, "not a regular file", name)


def _has_stub(folder: int, name: str) -> bool:
    """Whether a cloud stub stands for a note. Raises OSError."""
    return beneath.exists(folder, f".{name}.icloud")


def _taken_in(file: IO[bytes]) -> Intake:
    intake = Intake()
    while piece := file.read(PIECE_BYTES):
        intake.add(piece)
    return intake


def _read_once(folder: int, name: str, read: Callable[[IO[bytes]], T]) -> tuple[T, FileStat, FileStat]:
    """What was read with the file's state before and after. Raises OSError."""
    with beneath.opened(folder, name) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
        status = os.fstat(descriptor)
        if status.st_size > NOTE_LIMIT_BYTES:
            raise OSError(errno.EFBIG, f"it is larger than {NOTE_LIMIT_BYTES // 1024**2} MiB")
        made = read(file)
        is_whole = file.tell() == status.st_size  # else it grew or shrank, and perhaps back again
        return made, FileStat.of(status), FileStat.of(os.fstat(descriptor)) if is_whole else NO_FILE
