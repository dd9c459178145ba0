"""The token of this user's servers: a file of the state dir, made once, whose text clients must show.

A port of this machine is open to everybody on it; a file of mode 0600 is not.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path

from vaultmem.files import beneath
from vaultmem.files.lock import locked_file
from vaultmem.files.state_dir import open_own

TOKEN_FILE = "mcp-token"
TOKEN_BYTES = 32
WAIT_S = 5.0
_LENGTH = len(secrets.token_urlsafe(TOKEN_BYTES))


def token_file(state_dir: Path) -> Path:
    """Where the token lies."""
    return state_dir / TOKEN_FILE


def kept_token(state_dir: Path) -> str:
    """The token, made when there is none yet; whoever asks gets the same one.

    Raises OSError: it cannot be kept, or a link, a folder or somebody else's file lies in its place.
    """
    try:
        # Locked: two servers that start at once must not make two.
        with locked_file(state_dir, TOKEN_FILE, WAIT_S) as descriptor:
            return _read(descriptor) or _made(descriptor)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EROFS) and (token := _told(state_dir)):
            return token
        raise


def _told(state_dir: Path) -> str:
    """The token in a state dir that may only be read; empty when there is none."""
    with contextlib.suppress(FileNotFoundError), beneath.folder(state_dir) as folder:
        descriptor = open_own(folder, TOKEN_FILE, os.O_RDONLY)
        try:
            return _read(descriptor)
        finally:
            os.close(descriptor)
    return ""


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
