"""Writing files so that a reader sees the old bytes or the new ones, never a part, also after a power cut.

Files are named in an open folder, so that a folder that was checked is the one that is written in; `write_file` and
`create_file` take plain paths, for files that are no notes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat as stat_modes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from vaultmem.files import beneath, exchange

_PREFIX, _SUFFIX = ".vaultmem-", ".tmp"
_NO_HARD_LINKS = frozenset(
    {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS, errno.EXDEV}
)


@dataclass(slots=True)
class Temporary:
    """A new file under a name of ours, deleted afterwards if it still has that name and is not `is_kept`."""

    descriptor: int
    name: str
    is_kept: bool = False


def is_temporary(name: str) -> bool:
    """Whether a file name is one of those that hold our own unfinished bytes."""
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def create(folder: int, name: str, data: bytes, *, mode: int = 0o666) -> bool:
    """Write a new file whole, with `mode` less the umask; False when the name is taken. Raises OSError."""
    with temporary(folder, mode) as new:
        write_all(new.descriptor, data)
        os.fsync(new.descriptor)
        is_made = _claim(folder, new.name, folder, name, is_ours=True)
        if is_made:
            sync_folder(folder)
        return is_made


def move(folder: int, name: str, target_folder: int, target: str) -> bool:
    """Move a file, as it is at that instant, to a name that is free; False when it is taken. Raises OSError."""
    os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not _claim(folder, name, target_folder, target, is_ours=False):
        return False
    sync_folder(target_folder)
    sync_folder(folder)
    return True


def create_file(target: Path, data: bytes, *, mode: int = 0o666) -> bool:
    """`create` for a plain path, whose way may pass links."""
    with beneath.folder(target.parent) as folder:
        return create(folder, target.name, data, mode=mode)


def write_file(target: Path, data: bytes, *, mode: int | None = None, is_durable: bool = True) -> None:
    """Put these bytes at `target`, whatever lies there. Raises OSError.

    The file gets `mode`; without one it keeps the mode that it has, and a new one is as the umask says. What can be
    made again any time need not be durable: a power cut may then leave it empty.
    """
    with beneath.folder(target.parent) as folder, temporary(folder, 0o666 if mode is None else mode) as new:
        write_all(new.descriptor, data)
        if mode is None:
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(new.descriptor, stat_modes.S_IMODE(os.stat(target.name, dir_fd=folder).st_mode))
        if is_durable:
            os.fsync(new.descriptor)
        os.rename(new.name, target.name, src_dir_fd=folder, dst_dir_fd=folder)
        if is_durable:
            sync_folder(folder)


def free_names(name: str, joint: str = "-") -> Iterator[str]:
    """A file name, then the same with 2, 3… behind its stem, for ever."""
    stem, suffix = PurePath(name).stem, PurePath(name).suffix
    yield name
    number = 2
    while True:
        yield f"{stem}{joint}{number}{suffix}"
        number += 1


# --- what they are made of


@contextlib.contextmanager
def temporary(folder: int, mode: int) -> Iterator[Temporary]:
    """A new file in an open folder. What lies under its name in the end is deleted only if it is this very file."""
    # The name does not contain the note's, which may already be as long as names can be.
    name = f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}"
    new = Temporary(beneath.open_in(folder, name, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode), name)
    try:
        yield new
    finally:
        with contextlib.suppress(OSError):
            if not new.is_kept and is_at(folder, new.name, new.descriptor):
                os.unlink(new.name, dir_fd=folder)
        os.close(new.descriptor)


def seal(folder: int, new: Temporary) -> None:
    """Force a written file to the disk and keep it open for reading only. Raises OSError."""
    os.fsync(new.descriptor)
    written, new.descriptor = new.descriptor, beneath.open_in(folder, new.name, os.O_RDONLY)
    os.close(written)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of the bytes. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def is_at(folder: int, name: str, descriptor: int) -> bool:
    """Whether an open file is the one that lies under a name. Raises OSError."""
    return os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(descriptor))


def sync_folder(folder: int) -> None:
    """Make the names in a folder durable; a file system that cannot is left alone."""
    with contextlib.suppress(OSError):
        os.fsync(folder)


def _claim(folder: int, name: str, target_folder: int, target: str, *, is_ours: bool) -> bool:
    """Give a file a name unless that is taken; `is_ours`: nobody else writes under its old name."""
    try:
        if exchange.move_to_free_name(folder, name, target_folder, target):
            return True
        if is_ours and _linked(folder, name, target):
            return True
        placeholder = beneath.open_in(target_folder, target, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        return False
    try:
        os.rename(name, target, src_dir_fd=folder, dst_dir_fd=target_folder)
    except OSError:
        if is_at(target_folder, target, placeholder) and not os.fstat(placeholder).st_size:
            os.unlink(target, dir_fd=target_folder)
        raise
    finally:
        os.close(placeholder)
    return True


def _linked(folder: int, name: str, target: str) -> bool:
    """A hard link cannot overwrite; False where there are none. Raises FileExistsError, OSError."""
    try:
        os.link(name, target, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        return False
    return True
