"""One writer at a time: an advisory lock on a file, which the kernel releases when its process dies.

The file also holds the holder's process id, for people; it is never what decides.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat as stat_modes
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

from vaultmem.errors import WriterBusyError
from vaultmem.files import beneath, state_dir

SESSIONS_FOLDER = "sessions"
"""Where in a state dir the locks of a client's sessions lie."""

RETRY_S = 0.02
PROBE_GRACE_S = 0.06
"""Asking whether a writer lives holds a shared lock for an instant; a taker tries for this long before it gives up."""


def _try_lock(descriptor: int, *, shared: bool) -> bool:
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


_LOCKS: weakref.WeakSet[WriterLock] = weakref.WeakSet()


def _let_go_in_child() -> None:
    """A forked child must neither think that it holds the parent's lock nor keep it after the parent's death."""
    for lock in _LOCKS:
        lock.release()


os.register_at_fork(after_in_child=_let_go_in_child)


class WriterLock:
    """The writer's lock of one state dir, held or not. Not shared between threads without care of one's own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        _LOCKS.add(self)

    @property
    def is_held(self) -> bool:
        """This object holds the lock, and the lock is the one that others ask for: a deleted file locks nobody out."""
        return self._descriptor is not None and _is_at(self._path, self._descriptor)

    def try_acquire(self, timeout_s: float = 0.0) -> bool:
        """Take the lock, waiting at most `timeout_s`; whether it is held now."""
        if self.is_held:
            return True
        self.release()
        deadline = time.monotonic() + max(timeout_s, PROBE_GRACE_S)
        while not self._try_once():
            if time.monotonic() >= deadline:
                return False
            time.sleep(RETRY_S)
        return True

    def _try_once(self) -> bool:
        state_dir.make_own(self._path.parent)
        with beneath.folder(self._path.parent) as folder:
            descriptor = _open_own(folder, self._path.name, os.O_RDWR | os.O_CREAT)
        # Between opening and locking somebody may have deleted the file: that lock would keep nobody out.
        if not (_try_lock(descriptor, shared=False) and _is_at(self._path, descriptor)):
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except OSError:  # a full disk; a lock that nobody remembers would keep all out, and us
            self.release()
            raise
        return True

    def acquire(self, timeout_s: float) -> None:
        """Take the lock, waiting at most `timeout_s`.

        Raises:
            WriterBusyError: another live process keeps it.
        """
        if not self.try_acquire(timeout_s):
            pid = holder(self._path)
            raise WriterBusyError(
                f"another process writes this memory's caches{f' (pid {pid})' if pid else ''}",
                pid=pid,
                advice="Wait for it to finish, or stop it; a running `vaultmem watch` or `tui` syncs by itself.",
            )

    def release(self) -> None:
        """Let go of the lock, if it is held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextlib.contextmanager
def turn(root: Path, path: str, timeout_s: float) -> Iterator[None]:
    """A turn of our own writers below `root`; others cannot hold it up, as only this user can open the folder `path`.

    Where no such folder can be had (a root that several users write, or read-only but for its notes) nobody waits for
    anybody. Raises OSError after `timeout_s`.
    """
    with contextlib.ExitStack() as stack:
        try:
            descriptor = stack.enter_context(beneath.folder(root, path, make=0o700))
            status = os.fstat(descriptor)
            is_own = _is_of_this_user(status)
            if is_own and status.st_mode & 0o077:
                os.fchmod(descriptor, 0o700)
                with contextlib.suppress(OSError):
                    descriptor = stack.enter_context(_made_anew(root, path))
        except OSError:
            is_own = False
        if is_own:
            _wait(descriptor, timeout_s)
        yield


def _made_anew(root: Path, path: str) -> contextlib.AbstractContextManager[int]:
    """The folder in the place of one that was open to others: who opened that may hold its lock for good."""
    above, _, name = path.rpartition("/")
    with beneath.folder(root, above) as parent:
        os.rmdir(name, dir_fd=parent)
    return beneath.folder(root, path, make=0o700)


def _wait(descriptor: int, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while not _try_lock(descriptor, shared=False):
        if time.monotonic() > deadline:
            raise OSError(errno.EBUSY, "another process is writing notes here")
        time.sleep(RETRY_S)


def _open_own(folder: int, name: str, flags: int) -> int:
    """A descriptor of a lock file, never of what somebody put in its place. Raises OSError."""
    try:
        descriptor = beneath.open_in(folder, name, flags, 0o600)
    except beneath.LinkOnTheWayError:
        raise PermissionError(errno.EPERM, "the lock is a symbolic link; delete it", name) from None
    status = os.fstat(descriptor)
    is_file = stat_modes.S_ISREG(status.st_mode) and status.st_nlink <= 1
    if not (is_file and _is_of_this_user(status)):
        os.close(descriptor)
        raise PermissionError(errno.EPERM, "the lock is no file of this user; delete it", name)
    return descriptor


def _is_of_this_user(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() or os.geteuid() == 0


def remove(path: Path) -> None:
    """Delete the file of a lock that nobody holds. Who waits for it finds it gone, and makes it anew."""
    lock = WriterLock(path)
    if path.exists() and lock.try_acquire():
        with contextlib.suppress(OSError):
            path.unlink()
    lock.release()


def _is_at(path: Path, descriptor: int) -> bool:
    """The open file is the one that lies at `path`."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except OSError:
        return False


def holder(path: Path) -> int | None:
    """The process id of the live holder of the lock at `path`, or None. Takes nothing away from anybody."""
    try:
        descriptor = beneath.open_file(path.parent, path.name, os.O_RDONLY)
    except OSError:
        return None
    try:
        if _try_lock(descriptor, shared=True):
            return None
        text = os.pread(descriptor, 32, 0).split(b"\n")[0]
        return int(text) if text.isdigit() else 0
    finally:
        os.close(descriptor)
