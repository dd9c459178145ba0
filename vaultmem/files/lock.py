"""One writer at a time: an advisory lock on a file, which the kernel releases when its process dies.

The file also holds the holder's process id, for people; it is never what decides.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

from vaultmem.errors import WriterBusyError
from vaultmem.files import beneath
from vaultmem.files.state_dir import make_own, open_own

SESSIONS_FOLDER = "sessions"
"""Where in a state dir the locks of a client's sessions lie."""

RETRY_S = 0.02
PAUSE_S = 0.005
"""The same where a lock is held for an instant only."""
PROBE_GRACE_S = 0.06
"""Asking whether a writer lives holds a shared lock for an instant; a taker tries for this long before it gives up."""


def _try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Raises OSError where the file system has no locks: that is not to be waited for."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait(descriptor: int, timeout_s: float) -> bool:
    """Wait for the lock on an open file, which closing it releases; whether it is held now.

    Raises OSError where the file system has no locks.
    """
    deadline = time.monotonic() + timeout_s
    while not (is_held := _try_lock(descriptor)) and time.monotonic() <= deadline:
        time.sleep(PAUSE_S)
    return is_held


_LOCKS: weakref.WeakSet[WriterLock] = weakref.WeakSet()


def _let_go_in_child() -> None:
    """A forked child must neither think that it holds the parent's lock nor keep it after the parent's death."""
    for lock in _LOCKS:
        lock.release()


os.register_at_fork(after_in_child=_let_go_in_child)


class WriterLock:
    """The writer's lock of one state dir, held or not. Not shared between threads without care of one's own.

    A lock that lies deeper than in the state dir itself, such as a session's, is told which that is.
    """

    def __init__(self, path: Path, *, state_dir: Path | None = None) -> None:
        self._path = path
        self._state_dir = state_dir or path.parent
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
        make_own(self._state_dir)
        deadline = time.monotonic() + max(timeout_s, PROBE_GRACE_S)
        while not self._try_once():
            if time.monotonic() >= deadline:
                return False
            time.sleep(RETRY_S)
        return True

    def _try_once(self) -> bool:
        *folders, name = self._path.relative_to(self._state_dir).parts
        with beneath.folder(self._state_dir, "/".join(folders), make=0o700) as folder:
            self._descriptor = open_own(folder, name)
        try:
            # Between opening and locking somebody may have deleted the file: that lock would keep nobody out.
            if not (_try_lock(self._descriptor) and self.is_held):
                self.release()
                return False
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)
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

    def discard(self) -> None:
        """Let go of the lock, if it is held, and take its file away: who waits for it makes it anew."""
        if self.is_held:
            with contextlib.suppress(OSError):
                self._path.unlink()
        self.release()

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
            is_own = status.st_uid == os.geteuid() or os.geteuid() == 0
            if is_own and status.st_mode & 0o077:
                os.fchmod(descriptor, 0o700)
                with contextlib.suppress(OSError):
                    descriptor = stack.enter_context(_made_anew(root, path))
            is_busy = is_own and not wait(descriptor, timeout_s)
        except OSError:
            is_busy = False
        if is_busy:
            raise OSError(errno.EBUSY, "another process is writing notes here: try again")
        yield


def _made_anew(root: Path, path: str) -> contextlib.AbstractContextManager[int]:
    """The folder in the place of one that was open to others: who opened that may hold its lock for good."""
    above, _, name = path.rpartition("/")
    with beneath.folder(root, above) as parent:
        os.rmdir(name, dir_fd=parent)
    return beneath.folder(root, path, make=0o700)


@contextlib.contextmanager
def locked_file(state_dir: Path, name: str, timeout_s: float) -> Iterator[int]:
    """A small file of ours in the state dir, made if it is missing, and ours alone while it is open.

    Raises OSError, also when another process keeps it for longer than `timeout_s`.
    """
    make_own(state_dir)
    with beneath.folder(state_dir) as folder:
        descriptor = open_own(folder, name)
    try:
        if not wait(descriptor, timeout_s):
            raise OSError(errno.EBUSY, "another process keeps it locked", name)
        yield descriptor
    finally:
        os.close(descriptor)


def remove(path: Path, *, state_dir: Path) -> None:
    """Delete the file of a lock that nobody holds. What cannot be deleted stays, as does what is no lock of ours."""
    left = WriterLock(path, state_dir=state_dir)
    with contextlib.suppress(OSError):
        if path.exists() and left.try_acquire():
            left.discard()


def _is_at(path: Path, descriptor: int) -> bool:
    """The open file is the one that lies at `path`."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except OSError:
        return False


def holder(path: Path) -> int | None:
    """The process id of the live holder of the lock at `path`, or None. Takes nothing away from anybody."""
    with (
        contextlib.suppress(OSError),
        beneath.folder(path.parent) as folder,
        beneath.opened(folder, path.name) as descriptor,
    ):
        if not _try_lock(descriptor, shared=True):
            text = os.pread(descriptor, 32, 0).split(b"\n")[0]
            return int(text) if text.isdigit() else 0
    return None
