"""A file's bytes replaced, so that nobody's save is lost in between.

Between the last look at a file and the rename over it somebody may save. So the new file and the old one change
places in one step, and what came out is looked at: if it is not what the edit was made from, it gets its name back.
Where two saves fall into these instants, the newer one keeps the name and the other is left aside, under a name that
tells what it is, also to whoever finds it after this process was killed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat as stat_modes
import time
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from vaultmem.files import atomic, beneath, exchange, leases

SETTLING_S = 1.0
"""How long a file that somebody has open for writing is waited for, before it is replaced and after."""
MOMENT_S = 0.02
"""How long where the system does not tell who has a file open."""

_PREFIX, _SUFFIX = ".vaultmem-", ".old"


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

    Mode, owner and extended attributes stay; where the owner cannot, nothing is written. Raises OSError, also while
    another program has the file open for writing.
    """
    with atomic.temporary(folder, 0o600) as new:
        atomic.write_all(new.descriptor, after)
        with beneath.opened(folder, name) as old:
            _take_after(new.descriptor, old)
            atomic.seal(folder, new)
            attempt = _Attempt(folder, name, new, before, after, leases.is_answering(new.descriptor))
            return attempt.made() if attempt.is_due(old) else UNTOUCHED


def replace_file(target: Path, before: bytes, after: bytes) -> bool:
    """`replace` for a plain path, whose way may pass links; whether it was done. Raises OSError."""
    with beneath.folder(target.parent) as folder:
        done = replace(folder, target.name, before, after)
    if done.aside is not None:
        raise OSError(errno.EBUSY, f"it was saved at the same time; one version is kept as {done.aside}")
    return done.status is not None


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One replacement, whose new file is written."""

    folder: int
    name: str
    new: atomic.Temporary
    before: bytes
    after: bytes
    is_told_of_writers: bool
    """The file system tells whether somebody has a file open for writing."""

    def is_due(self, old: int) -> bool:
        """The last look: whether the file holds what the edit was made from. Raises OSError."""
        if not self._is_at_rest(old):  # what was read may be half of what is being saved
            raise OSError(errno.EBUSY, "another program has it open for writing: try again when it is saved")
        return _holds(self.folder, self.name, self.before) and not self._is_open_for_writing(old)

    def made(self) -> Replaced:
        """The two files change places. Raises OSError."""
        aside = _aside_name(self.name, self.before, self.after)
        os.rename(self.new.name, aside, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        self.new.name = aside
        if not self._swap():
            return self._made_by_rename()
        self.new.is_kept = True  # what lies there now is somebody else's
        atomic.sync_folder(self.folder)
        if self._let_go(self.before):
            return Replaced(os.fstat(self.new.descriptor))
        return self._put_back()

    def _swap(self) -> bool:
        return exchange.swap(self.folder, self.new.name, self.name)

    def _put_back(self) -> Replaced:
        """Give a version that somebody saved its name back. If there is a newer one by now, that keeps the name."""
        with contextlib.suppress(OSError):  # somebody deleted the file, or the disk is gone
            self._swap()
            if atomic.is_at(self.folder, self.new.name, self.new.descriptor) and self._let_go(self.after):
                return UNTOUCHED
            self._swap()
        atomic.sync_folder(self.folder)
        return Replaced(None, self.new.name)

    def _made_by_rename(self) -> Replaced:
        """Where files cannot change places: one more look, the rename, a look at what was in the old file since."""
        with beneath.opened(self.folder, self.name) as old:
            if not _holds(self.folder, self.name, self.before):
                return UNTOUCHED
            os.rename(self.new.name, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
            atomic.sync_folder(self.folder)
            self._is_at_rest(old)
            status, late = os.fstat(self.new.descriptor), _bytes_of(old)
        if late == self.before:
            return Replaced(status)
        with beneath.opened(self.folder, self.new.name, os.O_CREAT | os.O_EXCL | os.O_WRONLY) as kept:
            atomic.write_all(kept, late)
            os.fsync(kept)
        return Replaced(status, self.new.name)

    def _let_go(self, expected: bytes) -> bool:
        """Delete what came out if it holds what is expected and nobody has it open for writing; whether that was so."""
        try:
            with beneath.opened(self.folder, self.new.name) as descriptor:
                if not self._is_at_rest(descriptor) or _bytes_of(descriptor) != expected:
                    return False
                os.unlink(self.new.name, dir_fd=self.folder)
        except OSError:  # a link, a folder: nothing of ours
            return False
        return True

    def _is_at_rest(self, descriptor: int) -> bool:
        """Wait, a little, until nobody has the file open for writing; whether that is so, as far as we are told."""
        if not self.is_told_of_writers:
            time.sleep(MOMENT_S)
            return True
        deadline = time.monotonic() + SETTLING_S
        while (is_open := self._is_open_for_writing(descriptor)) and time.monotonic() < deadline:
            time.sleep(0.01)
        return not is_open

    def _is_open_for_writing(self, descriptor: int) -> bool:
        return self.is_told_of_writers and leases.is_open_for_writing(descriptor) is True


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


def _holds(folder: int, name: str, expected: bytes) -> bool:
    try:
        with beneath.opened(folder, name) as descriptor:
            return os.fstat(descriptor).st_size == len(expected) and _bytes_of(descriptor) == expected
    except OSError:
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
