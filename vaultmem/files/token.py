"""The token of this user's servers: a file of the state dir, made once, whose text clients must show.

A port of this machine is open to everybody on it; a file of mode 0600 is not.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat as stat_modes
from pathlib import Path

from vaultmem.files import beneath
from vaultmem.files.state_dir import make_own

TOKEN_FILE = "mcp-token"
TOKEN_BYTES = 32
_LENGTH = len(secrets.token_urlsafe(TOKEN_BYTES))


def token_file(state_dir: Path) -> Path:
    """Where the token lies."""
    return state_dir / TOKEN_FILE


def kept_token(state_dir: Path) -> str:
    """The token, made when there is none yet; whoever asks gets the same one.

    Raises OSError: it cannot be kept, or a link, a folder or somebody else's file lies in its place.
    """
    make_own(state_dir)
    descriptor = _opened(state_dir)
    try:
        _check_own(descriptor, token_file(state_dir))
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # two that start at once must not make two
        return _read(descriptor) or _made(descriptor)
    finally:
        os.close(descriptor)


def _opened(state_dir: Path) -> int:
    try:
        return beneath.open_file(state_dir, TOKEN_FILE, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EROFS):
            raise
        return beneath.open_file(state_dir, TOKEN_FILE, os.O_RDONLY)  # a state dir that may only be read


def _check_own(descriptor: int, file: Path) -> None:
    """Nobody but this user may know it, or have chosen it."""
    status = os.fstat(descriptor)
    if not stat_modes.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a file", str(file))
    if status.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, f"it belongs to another user (uid {status.st_uid})", str(file))
    if status.st_mode & 0o077:
        os.fchmod(descriptor, 0o600)


def _read(descriptor: int) -> str:
    """The token; empty when there is none, or half a one that a crash left."""
    text = os.pread(descriptor, _LENGTH + 1, 0).decode("ascii", "replace").strip()
    return text if len(text) == _LENGTH else ""


def _made(descriptor: int) -> str:
    token = secrets.token_urlsafe(TOKEN_BYTES)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{token}\n".encode(), 0)
    os.fsync(descriptor)
    return token
