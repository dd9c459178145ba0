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
from itertools import takewhile
from pathlib import Path

KEPT_OPEN = 8
"""As many folders above the last one are kept open by a walk."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NO_LINK = os.O_NOFOLLOW | os.O_CLOEXEC


class LinkOnTheWayError(OSError):
    """A part of a path below the root is a symbolic link; its errno is ELOOP."""

    def __init__(
        self, name: str, reason: str = "a symbolic link lies on the way, and links are not followed"
    ) -> None:
        super().__init__(errno.ELOOP, reason, name)


@contextlib.contextmanager
def folder(root: str | Path, path: str = "", *, make: int | None = None) -> Iterator[int]:
    """A descriptor of the folder `path` below `root`, closed afterwards.

    With `make`, missing parts are made with that mode less the umask; the root itself never is. Raises
    LinkOnTheWayError, NotADirectoryError for a file on the way, FileNotFoundError, OSError.
    """
    descriptor = os.open(root, _FOLDER)
    try:
        for part in parts_of(path):
            above, descriptor = descriptor, _step(descriptor, part, make)
            os.close(above)
        yield descriptor
    finally:
        os.close(descriptor)


class Way:
    """The way to the folder below `root` that was opened last: the next one is reached from the nearest above it.

    So a walk opens each folder about once, however deep it lies, and holds a few descriptors. Close it.
    """

    def __init__(self, root: str | Path) -> None:
        self._root = os.open(root, _FOLDER)
        self._parts: list[str] = []
        self._open: list[tuple[int, int]] = []  # depth and descriptor of the last parts

    @property
    def root(self) -> int:
        """The descriptor of the root."""
        return self._root

    def to(self, path: str) -> int:
        """A descriptor of the folder `path`, open until the next call. Raises as `folder`."""
        parts = parts_of(path)
        shared = takewhile(lambda pair: pair[0] == pair[1], zip(self._parts, parts, strict=False))
        self._go_back(sum(1 for _ in shared))
        depth, descriptor = self._open[-1] if self._open else (0, self._root)
        self._parts = parts[:depth]
        for part in parts[depth:]:
            descriptor = _step(descriptor, part, None)
            self._parts.append(part)
            self._open.append((len(self._parts), descriptor))
            if len(self._open) > KEPT_OPEN:
                os.close(self._open.pop(0)[1])
        return descriptor

    def _go_back(self, depth: int) -> None:
        while self._open and self._open[-1][0] > depth:
            os.close(self._open.pop()[1])

    def close(self) -> None:
        """Close every descriptor."""
        self._go_back(0)
        os.close(self._root)


def open_file(root: str | Path, path: str) -> int:
    """A descriptor of the regular file `path` below `root`, for reading; the caller closes it.

    Raises LinkOnTheWayError, FileNotFoundError for what is no regular file, OSError.
    """
    *parents, name = parts_of(path) or [path]
    with folder(root, "/".join(parents)) as descriptor:
        return open_regular(descriptor, name)


def open_in(parent: int, name: str, flags: int, mode: int = 0o600) -> int:
    """A descriptor of whatever has this name in an open folder; the caller closes it.

    Never waits for the other end of a pipe. Raises LinkOnTheWayError, OSError.
    """
    try:
        return os.open(name, flags | _NO_LINK | os.O_NONBLOCK, mode, dir_fd=parent)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise LinkOnTheWayError(name) from None
        raise


def open_regular(parent: int, name: str, flags: int = os.O_RDONLY) -> int:
    """The same for a regular file. Raises FileNotFoundError for what is none, LinkOnTheWayError, OSError."""
    descriptor = open_in(parent, name, flags)
    if not stat_modes.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileNotFoundError(errno.ENOENT, "not a regular file", name)
    return descriptor


@contextlib.contextmanager
def opened(parent: int, name: str, flags: int = os.O_RDONLY) -> Iterator[int]:
    """The same, closed afterwards."""
    descriptor = open_regular(parent, name, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def exists(parent: int, name: str) -> bool:
    """Whether anything in an open folder has this name, a link too. Raises OSError when nobody can tell."""
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def link_in(folder: int) -> str:
    """The name of a symbolic link in an open folder, or empty. Raises OSError."""
    with os.scandir(folder) as entries:
        return next((entry.name for entry in entries if entry.is_symlink()), "")


def is_beneath(path: str) -> bool:
    """Whether a path, by how it is written, leads to something below its root."""
    return "\0" not in path and not any(part in ("", ".", "..") for part in path.split("/"))


def parts_of(path: str) -> list[str]:
    """The names on the way, none for "". Raises FileNotFoundError for a path that could lead out of its root."""
    if path and not is_beneath(path):
        raise FileNotFoundError(errno.ENOENT, "not a path below a folder", path)
    return path.split("/") if path else []


def _step(parent: int, name: str, make: int | None) -> int:
    """The descriptor of a folder in `parent`."""
    if make is not None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, make, dir_fd=parent)
            with contextlib.suppress(OSError):  # a file system that cannot
                os.fsync(parent)
    try:
        return os.open(name, _FOLDER | _NO_LINK, dir_fd=parent)
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):  # what systems say of a link
            raise
        if stat_modes.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise LinkOnTheWayError(name) from None
        raise NotADirectoryError(errno.ENOTDIR, f"{name} is not a folder", name) from None
