"""The state dir as a folder of this user alone: what memories say lies in its caches in the clear.

Nobody else may look or write in there, so nobody else can have put a link in the place of a file of ours; links that
are there all the same are refused, not followed. The way to the state dir itself may pass links.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat as stat_modes
from pathlib import Path

from vaultmem.files import beneath

OTHERS = 0o077
"""The bits of a mode that let somebody else look, write or enter."""

_MARKS = frozenset({"catalog.sqlite", "vectors.sqlite", "writer.lock", "sessions", "hook.log", "id.clock"})
"""One of these is in every state dir; a folder without any is something else, whose modes are not ours to change."""


def make_own(folder: Path) -> None:
    """Make the state dir, or close one that is there to everybody else. Raises OSError, with the reason.

    A folder of somebody else is refused, and one that others may enter and that is no state dir of ours.
    """
    _make(folder)
    with beneath.folder(folder) as descriptor:
        if reason := _stranger(os.fstat(descriptor)):
            raise PermissionError(errno.EPERM, reason, str(folder))
        if os.fstat(descriptor).st_mode & OTHERS:
            _close(descriptor, folder)
        if link := beneath.link_in(descriptor):
            reason = f"{link} is a symbolic link, and links are not followed: delete it"
            raise beneath.LinkOnTheWayError(str(folder), reason)


def complaint(folder: Path) -> str:
    """What is wrong with a state dir as a folder of our own, or empty; also when it is not there. Changes nothing."""
    try:
        with beneath.folder(folder) as descriptor:
            status = os.fstat(descriptor)
            if reason := _stranger(status):
                return reason
            if status.st_mode & OTHERS:
                return f"others may look into it (mode {stat_modes.S_IMODE(status.st_mode):04o})"
            link = beneath.link_in(descriptor)
            return f"{link} is a symbolic link, and links are not followed" if link else ""
    except FileNotFoundError:
        return ""
    except OSError as error:
        return error.strerror or str(error)


def open_own(folder: int, name: str, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """A descriptor of a file of ours in an open folder of the state dir; the caller closes it.

    It is closed to everybody else. Raises PermissionError for what somebody put in its place, OSError.
    """
    try:
        descriptor = beneath.open_in(folder, name, flags)
    except beneath.LinkOnTheWayError:
        raise PermissionError(errno.EPERM, "it is a symbolic link; delete it", name) from None
    try:
        status = os.fstat(descriptor)
        if not stat_modes.S_ISREG(status.st_mode) or status.st_nlink > 1 or status.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it is no file of this user alone; delete it", name)
        if status.st_mode & OTHERS:
            _close_one(descriptor)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _make(folder: Path) -> None:
    """Make the folder and what is missing above it, for this user alone."""
    with contextlib.suppress(FileExistsError):
        if not folder.parent.exists():
            _make(folder.parent)
        folder.mkdir(mode=0o700)


def _stranger(status: os.stat_result) -> str:
    is_own = status.st_uid == os.geteuid()
    return "" if is_own else f"it belongs to another user (uid {status.st_uid}); choose another --state-dir"


def _close(descriptor: int, folder: Path) -> None:
    names = os.listdir(descriptor)
    if names and _MARKS.isdisjoint(names):
        reason = "others may look into it, and it holds other things; choose a folder of its own: --state-dir"
        raise PermissionError(errno.EPERM, reason, str(folder))
    _close_one(descriptor)
    _close_below(descriptor)


def _close_one(descriptor: int) -> None:
    """What the user may not do, such as write, stays forbidden."""
    os.fchmod(descriptor, _closed(os.fstat(descriptor)))


def _close_below(folder: int, *, is_ours: bool = False) -> None:
    """Close every file and folder in an open folder that is closed itself; a link in one of `is_ours` goes.

    Files are not opened: closing a descriptor of a database would end all locks that this process has on it.
    """
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):  # of somebody else, whom the folder shuts out from now on
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat_modes.S_ISDIR(status.st_mode):
                _close_folder(beneath.open_in(folder, name, os.O_RDONLY | os.O_DIRECTORY))
            elif stat_modes.S_ISREG(status.st_mode):
                os.chmod(name, _closed(status), dir_fd=folder)
            elif is_ours and stat_modes.S_ISLNK(status.st_mode):  # a store makes none
                os.unlink(name, dir_fd=folder)


def _close_folder(descriptor: int) -> None:
    try:
        _close_one(descriptor)
        _close_below(descriptor, is_ours=True)
    finally:
        os.close(descriptor)


def _closed(status: os.stat_result) -> int:
    return stat_modes.S_IMODE(status.st_mode) & ~OTHERS
