"""One writer at a time: an advisory lock on a file, which the kernel releases when its process dies.

The file also holds the holder's process id, for people; it is never what decides.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from vaultmem.errors import WriterBusyError

RETRY_S = 0.02
PROBE_GRACE_S = 0.06
"""Asking whether a writer lives holds a shared lock for an instant; a taker tries for this long before it gives up."""

if sys.platform == "win32":  # pragma: no cover - not one of the tested platforms
    import msvcrt

    def _try_lock(descriptor: int, *, shared: bool) -> bool:
        try:
            os.lseek(descriptor, 1 << 20, os.SEEK_SET)  # beyond the text, which others must be able to read
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(descriptor: int, *, shared: bool) -> bool:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


class WriterLock:
    """The writer's lock of one state dir, held or not. Not shared between threads without care of one's own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """This object holds the lock."""
        return self._descriptor is not None

    def try_acquire(self, timeout_s: float = 0.0) -> bool:
        """Take the lock, waiting at most `timeout_s`; whether it is held now."""
        if self.is_held:
            return True
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        deadline = time.monotonic() + max(timeout_s, PROBE_GRACE_S)
        while not _try_lock(descriptor, shared=False):
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return False
            time.sleep(RETRY_S)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor
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


def holder(path: Path) -> int | None:
    """The process id of the live holder of the lock at `path`, or None. Takes nothing away from anybody."""
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return None
    try:
        if _try_lock(descriptor, shared=True):
            return None
        text = os.pread(descriptor, 32, 0).split(b"\n")[0]
        return int(text) if text.isdigit() else 0
    finally:
        os.close(descriptor)
