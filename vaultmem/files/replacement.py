"""A file's bytes replaced, so that nobody's save is lost in between.

Between the last look at a file and the rename over it somebody may save. So the new file and the old one change
places in one step, and what came out is looked at: if it is not what the edit was made from, it gets its name back.
Where two saves fall into these instants, the newer one keeps the name and the other is left aside, under a name that
tells what it is, also to whoever finds it after this process was killed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import signal
import stat as stat_modes
import time
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from vaultmem.files import atomic, beneath, exchange

SETTLING_S = 1.0
"""How long a file that somebody has open for writing is waited for, before it is replaced and after."""
MOMENT_S = 0.02
"""How long where the system does not tell who has a file open."""

_PREFIX, _SUFFIX = ".vaultmem-", ".old"
_NO_LEASES = frozenset(
    {errno.EACCES, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM}
)


@dataclass(frozen=True, slots=True)
class Replaced:
    """What became of a replacement."""

    status: os.stat_result | None
    """Of the new file; None when the name belongs to a version that somebody else saved."""
    aside: str | None = None
    """The file in the same folder that holds a version which somebody saved and which has no other name now."""


UNTOUCHED = Replaced(None)
"""The file no longer held what was expected, and is as it was."""


def replace(folder: int, name: str, before: bytes, after: bytes) -> Replaced:
    """Put `after` in the place of a file that still holds `before`.

    Mode, owner and extended attributes stay; where the owner cannot, nothing is written. Raises OSError.
    """
    with atomic.temporary(folder, 0o600) as new:
        atomic.write_all(new.descriptor, after)
        with beneath.opened(folder, name) as old:
            _take_after(new.descriptor, old)
            atomic.seal(folder, new)
            if not _wait_for_writers(old):  # what was read may be half of what is being saved
                raise OSError(errno.EBUSY, "another program has it open for writing")
            if not _holds(folder, name, before) or _is_open_for_writing(old):
                return UNTOUCHED
        _rename(folder, new, _aside_name(name, before, after))
        if not exchange.swap(folder, new.name, name):
            return _replace_by_rename(folder, name, new, before)
        new.is_kept = True  # what lies there now is somebody else's
        atomic.sync_folder(folder)
        if _let_go(folder, new.name, before):
            return Replaced(os.fstat(new.descriptor))
        return _put_back(folder, name, new, after)


def _rename(folder: int, new: atomic.Temporary, name: str) -> None:
    os.rename(new.name, name, src_dir_fd=folder, dst_dir_fd=folder)
    new.name = name


def replace_file(target: Path, before: bytes, after: bytes) -> bool:
    """`replace` for a plain path, whose way may pass links; whether it was done. Raises OSError."""
    with beneath.folder(target.parent) as folder:
        done = replace(folder, target.name, before, after)
    if done.aside is not None:
        raise OSError(errno.EBUSY, f"it was saved at the same time; one version is kept as {done.aside}")
    return done.status is not None


def _put_back(folder: int, name: str, new: atomic.Temporary, after: bytes) -> Replaced:
    """Give a version that somebody saved its name back. If there is a newer one by now, that keeps the name."""
    try:
        exchange.swap(folder, new.name, name)
        if atomic.is_at(folder, new.name, new.descriptor) and _let_go(folder, new.name, after):
            return UNTOUCHED
        exchange.swap(folder, new.name, name)
    except OSError:  # somebody deleted the file, or the disk is gone
        pass
    atomic.sync_folder(folder)
    return Replaced(None, new.name)


def _replace_by_rename(folder: int, name: str, new: atomic.Temporary, before: bytes) -> Replaced:
    """Where files cannot change places: one more look, the rename, and a look at what was in the old file since."""
    with beneath.opened(folder, name) as old:
        if not _holds(folder, name, before):
            return UNTOUCHED
        os.rename(new.name, name, src_dir_fd=folder, dst_dir_fd=folder)
        atomic.sync_folder(folder)
        _wait_for_writers(old)
        status, late = os.fstat(new.descriptor), _bytes_of(old)
    if late == before:
        return Replaced(status)
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    with beneath.opened(folder, new.name, flags) as kept:
        atomic.write_all(kept, late)
        os.fsync(kept)
    return Replaced(status, new.name)


# --- files left aside


def is_aside(name: str) -> bool:
    """Whether a file name is one of those that may hold what somebody saved."""
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def is_superfluous(folder: int, aside: str) -> bool:
    """Whether a file left aside holds what an edit was made from, or what it made. Raises OSError."""
    known = aside.removeprefix(_PREFIX).removesuffix(_SUFFIX).split("-")[1:3]
    with beneath.opened(folder, aside) as descriptor:
        return _hash(_bytes_of(descriptor)) in known


def is_aside_of(aside: str, name: str) -> bool:
    """Whether a file left aside had this name."""
    return aside.removesuffix(_SUFFIX).rpartition("-")[2] == _hash(os.fsencode(name))


def _aside_name(name: str, before: bytes, after: bytes) -> str:
    hashes = "-".join(_hash(data) for data in (before, after, os.fsencode(name)))
    return f"{_PREFIX}{os.urandom(4).hex()}-{hashes}{_SUFFIX}"


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


# --- looking at a file


def _let_go(folder: int, aside: str, expected: bytes) -> bool:
    """Delete a file that holds what is expected, and that nobody has open for writing; whether that was so."""
    try:
        with beneath.opened(folder, aside) as descriptor:
            if not _wait_for_writers(descriptor) or _bytes_of(descriptor) != expected:
                return False
            os.unlink(aside, dir_fd=folder)
    except OSError:  # a link, a folder: nothing of ours
        return False
    return True


def _holds(folder: int, name: str, expected: bytes) -> bool:
    try:
        with beneath.opened(folder, name) as descriptor:
            return os.fstat(descriptor).st_size == len(expected) and _bytes_of(descriptor) == expected
    except OSError:
        return False


def _wait_for_writers(descriptor: int) -> bool:
    """Wait, a little, until nobody has the file open for writing; whether that is so."""
    deadline = time.monotonic() + SETTLING_S
    while (is_open := _is_open_for_writing(descriptor)) and time.monotonic() < deadline:
        time.sleep(0.01)
    if is_open is None:
        time.sleep(MOMENT_S)
    return not is_open


def _is_open_for_writing(descriptor: int) -> bool | None:
    """Whether any process has the file open for writing: then no lease is given. None where nobody can tell."""
    if not hasattr(fcntl, "F_SETLEASE"):
        return None
    try:
        # Whoever opens the file while the lease lasts has us told of it: by a signal that does nothing.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return None if error.errno in _NO_LEASES else True
    return False


def _bytes_of(descriptor: int) -> bytes:
    parts, offset = list[bytes](), 0
    while part := os.pread(descriptor, 1 << 20, offset):
        parts.append(part)
        offset += len(part)
    return b"".join(parts)


def _take_after(descriptor: int, old: int) -> None:
    """Give the new file what belongs to the old one beside its bytes. Raises PermissionError for another's file."""
    status = os.fstat(old)
    with contextlib.suppress(OSError):
        os.fchown(descriptor, status.st_uid, status.st_gid)
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (status.st_uid, status.st_gid):
        whose = "user" if made.st_uid != status.st_uid else "group"
        reason = f"it belongs to another {whose}, and an edit would make it yours; edit it as that {whose}, or chown it"
        raise PermissionError(errno.EPERM, reason)
    os.fchmod(descriptor, stat_modes.S_IMODE(status.st_mode))
    if hasattr(os, "listxattr"):  # macOS has none in Python
        with contextlib.suppress(OSError):
            for attribute in os.listxattr(old):
                with contextlib.suppress(OSError):
                    os.setxattr(descriptor, attribute, os.getxattr(old, attribute))
