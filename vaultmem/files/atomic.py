"""Writing files so that a reader sees the old bytes or the new ones, never a part, also after a power cut."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat as stat_modes
import time
from collections.abc import Callable, Iterator
from pathlib import Path

FOLDER_WAIT_S = 2.0
FOLDER_PAUSE_S = 0.01

_PREFIX, _SUFFIX = ".vaultmem-", ".tmp"
_NO_HARD_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS})


def is_temporary(name: str) -> bool:
    """Whether a file name is one of those written here on the way to a replace."""
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def replace(target: Path, data: bytes, *, only_if: Callable[[], bool]) -> os.stat_result | None:
    """Replace a file's bytes; its mode, owner and extended attributes stay as far as the system allows.

    `only_if` is asked last, right before the replace; when it says no, nothing happens and the answer is None.
    Returns the new file's state. Writers of one folder wait for each other. Raises OSError.
    """
    with _folder_lock(target.parent), _temporary(target.parent, 0o600) as (descriptor, temporary):
        _write(descriptor, data)
        _take_after(descriptor, target)
        os.fsync(descriptor)
        if not only_if():
            return None
        temporary.replace(target)
        sync_folder(target.parent)
        return os.fstat(descriptor)


def write(target: Path, data: bytes, *, mode: int | None = None, is_durable: bool = True) -> None:
    """Put these bytes at `target`, whatever lies there. Raises OSError.

    The file gets `mode`; without one it keeps the mode that it has, and a new one is as the umask says. What can be
    made again any time need not be durable: a power cut may then leave it empty.
    """
    with _temporary(target.parent, 0o666 if mode is None else mode) as (descriptor, temporary):
        _write(descriptor, data)
        if mode is None:
            with contextlib.suppress(FileNotFoundError):
                _take_after(descriptor, target)
        if is_durable:
            os.fsync(descriptor)
        temporary.replace(target)
        if is_durable:
            sync_folder(target.parent)


def create(target: Path, data: bytes, *, mode: int = 0o666) -> bool:
    """Write a new file whole, with `mode` less the umask; False when the name is taken. Raises OSError."""
    with _temporary(target.parent, mode) as (descriptor, temporary):
        _write(descriptor, data)
        os.fsync(descriptor)
        if not _claim(temporary, target):
            return False
        sync_folder(target.parent)
        return True


def move(source: Path, target: Path) -> bool:
    """Move a file to a name that is free; False when it is taken. Raises OSError."""
    source.lstat()
    if not _claim(source, target):
        return False
    with contextlib.suppress(FileNotFoundError):  # a rename took it along
        source.unlink()
    sync_folder(target.parent)
    sync_folder(source.parent)
    return True


def make_folders(root: Path, folder: Path) -> None:
    """Make the folders from `root` down to `folder`. Raises OSError, also when one of them is a link or a file."""
    place = root
    for part in folder.relative_to(root).parts:
        parent, place = place, place / part
        with contextlib.suppress(FileExistsError):
            place.mkdir()
            sync_folder(parent)
        if not stat_modes.S_ISDIR(place.lstat().st_mode):
            raise NotADirectoryError(errno.ENOTDIR, f"{place.name} is not a folder")


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable; a file system that cannot is left alone."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _claim(source: Path, target: Path) -> bool:
    """Give `target` the file of `source` unless the name is taken. A hard link cannot overwrite, a rename would."""
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS and error.errno != errno.EXDEV:
            raise
    else:
        return True
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    source.replace(target)
    return True


@contextlib.contextmanager
def _temporary(folder: Path, mode: int) -> Iterator[tuple[int, Path]]:
    """Open a new temporary file in a folder; whatever is left of it afterwards is deleted."""
    # The name does not contain the note's, which may already be as long as names can be.
    path = folder / f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}"
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        yield descriptor, path
    finally:
        os.close(descriptor)
        with contextlib.suppress(OSError):
            path.unlink()


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _take_after(descriptor: int, target: Path) -> None:
    """Give the new file what belongs to the old one beside its bytes."""
    status = target.lstat()
    with contextlib.suppress(OSError):
        os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat_modes.S_IMODE(status.st_mode))
    if hasattr(os, "listxattr"):  # macOS has none in Python
        with contextlib.suppress(OSError):
            for name in os.listxattr(target, follow_symlinks=False):
                with contextlib.suppress(OSError):
                    os.setxattr(descriptor, name, os.getxattr(target, name, follow_symlinks=False))


@contextlib.contextmanager
def _folder_lock(folder: Path) -> Iterator[None]:
    """Hold the folder against other writers of ours. It is advisory: editors and sync tools know nothing of it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _wait_for_lock(descriptor)
        yield
    finally:
        os.close(descriptor)  # releases the lock


def _wait_for_lock(descriptor: int) -> None:
    deadline = time.monotonic() + FOLDER_WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise OSError(errno.EBUSY, "another process is writing in this folder") from None
            time.sleep(FOLDER_PAUSE_S)
        except OSError:
            return  # a file system without locks
