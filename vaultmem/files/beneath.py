"""What lies below a folder, opened part by part, so that no link is followed and what was checked is what is opened.

A path given as a whole is walked by the kernel anew at each call: between a look and the opening, somebody may put a
link in the place of a folder. Here each part is opened relative to the one before (`openat` with O_NOFOLLOW), and
whoever holds the descriptor holds the very folder. The way to the root itself may pass links.

Paths are texts relative to the root with `/` between the parts; "" is the root. No part may be "." or "..".
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat as stat_modes
from collections.abc import Iterator
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NO_LINK = os.O_NOFOLLOW | os.O_CLOEXEC


class LinkOnTheWayError(OSError):
    """A part of a path below the root is a symbolic link; its errno is ELOOP."""

    def __init__(self, name: str) -> None:
        super().__init__(errno.ELOOP, "a symbolic link lies on the way, and links are not followed", name)


@contextlib.contextmanager
def folder(root: str | Path, path: str = "", *, make: int | None = None) -> Iterator[int]:
    """A descriptor of the folder `path` below `root`, closed afterwards.

    With `make`, missing parts are made with that mode less the umask; the root itself never is. Raises
    LinkOnTheWayError, NotADirectoryError for a file on the way, FileNotFoundError, OSError.
    """
    descriptor = os.open(root, _FOLDER)
    try:
        for part in parts_of(path):
            descriptor = _step(descriptor, part, make)
        yield descriptor
    finally:
        os.close(descriptor)


def open_file(root: str | Path, path: str, flags: int, mode: int = 0o600) -> int:
    """A descriptor of the file `path` below `root`, opened with `flags`; the caller closes it.

    Never waits for the other end of a pipe. Raises LinkOnTheWayError, OSError.
    """
    *parents, name = parts_of(path) or [path]
    with folder(root, "/".join(parents)) as descriptor:
        return open_in(descriptor, name, flags, mode)


def open_in(parent: int, name: str, flags: int, mode: int = 0o600) -> int:
    """The same in an open folder. Raises LinkOnTheWayError, OSError."""
    try:
        return os.open(name, flags | _NO_LINK | os.O_NONBLOCK, mode, dir_fd=parent)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise LinkOnTheWayError(name) from None
        raise


def parts_of(path: str) -> list[str]:
    """The names on the way, none for "". Raises FileNotFoundError for a path that could lead out of its root."""
    parts = path.split("/") if path else []
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise FileNotFoundError(errno.ENOENT, "not a path below a folder", path)
    return parts


def _step(parent: int, name: str, make: int | None) -> int:
    """The descriptor of a folder in `parent`, which is closed when that was opened."""
    if make is not None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, make, dir_fd=parent)
            with contextlib.suppress(OSError):  # a file system that cannot
                os.fsync(parent)
    try:
        descriptor = os.open(name, _FOLDER | _NO_LINK, dir_fd=parent)
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):  # what systems say of a link
            raise
        if stat_modes.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise LinkOnTheWayError(name) from None
        raise
    os.close(parent)
    return descriptor
