"""Whether any process has a file open for writing: then the system gives no lease on it.

Only Linux has leases, and on a network file system a refusal says nothing of who has a file open. So the word of a file
system counts only after it gave a lease on a file that nobody else can have open, and only of kinds that are known.
"""

from __future__ import annotations

import errno
import fcntl
import signal

_LOCAL_KINDS = frozenset(
    {
        0xEF53,  # ext2 to ext4
        0x58465342,  # XFS
        0x9123683E,  # Btrfs
        0x01021994,  # tmpfs
        0xF2F52010,  # F2FS
        0x794C7630,  # overlay
        0x2FC12FC1,  # ZFS
        0xCA451A4E,  # bcachefs
    }
)
_NO_ANSWER = frozenset(
    {errno.EACCES, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM}
)


def is_answering(own: int) -> bool:
    """Whether refusals can be believed where the file of this descriptor lies; nobody else has it open."""
    return hasattr(fcntl, "F_SETLEASE") and _kind(own) in _LOCAL_KINDS and _is_refused(own) is False


def is_open_for_writing(descriptor: int) -> bool | None:
    """Whether any process has the file open for writing; None where nobody can tell. Opened for reading itself."""
    return _is_refused(descriptor) if hasattr(fcntl, "F_SETLEASE") else None


def _is_refused(descriptor: int) -> bool | None:
    try:
        # Whoever opens the file while the lease lasts has us told of it: by a signal that does nothing.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return None if error.errno in _NO_ANSWER else True
    return False


def _kind(descriptor: int) -> int | None:
    """The number by which Linux knows the kind of file system."""
    import ctypes

    # The kind is the first word of `struct statfs`, which is well below a kilobyte.
    buffer = ctypes.create_string_buffer(1024)
    if ctypes.CDLL(None, use_errno=True).fstatfs(descriptor, buffer):
        return None
    return int.from_bytes(buffer.raw[:4], "little")
