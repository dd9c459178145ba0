# ruff: noqa: PTH108, PTH111, PTH112, PTH118, PTH120
"""Where a worker's socket and address lie: a folder of this user alone, named by nothing that needs computing.

The address is looked for by the memory root's checksum and believed only when it names that root. Imported on
every prompt: the standard library's cheapest parts.
"""

from __future__ import annotations

import json
import os
from binascii import crc32
from collections.abc import Iterator
from typing import Any, NamedTuple

PROTOCOL = 2
"""A worker and a client of different protocols do not talk; the client does its work alone."""
LONGEST_BASE = 60
LONGEST_FOLDER = 80
"""Of the folder's path: the path of a Unix socket is limited to 104 bytes on macOS, 108 on Linux."""


class Address(NamedTuple):
    """Where a worker listens. Not a dataclass: what makes one takes longer to load than all the rest of a hook."""

    pid: int
    root: str
    state_dir: str
    is_default_state_dir: bool
    """A client that names no state dir means the default one."""
    socket: str


def runtime_folders() -> Iterator[str]:
    """Where the folder may be, the best place first: a login, a service and a cron job each see another one.

    What lies there may be somebody else's: servers take the first that `is_private`, clients look into each that is.
    """
    user = os.getuid()
    bases = [os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{user}"]
    for base in bases:
        if base.startswith("/") and len(base) < LONGEST_BASE and os.path.isdir(base):
            yield os.path.join(base, "vaultmem")
    yield f"/tmp/vaultmem-{user}"  # $TMPDIR may be too long
    for base in (os.environ.get("XDG_STATE_HOME", ""), os.path.expanduser("~/.local/state")):
        if base.startswith("/"):  # anybody may take the name in /tmp
            yield os.path.join(base, "vaultmem", "run")


def is_private(folder: str) -> bool:
    """The folder is there, is no link, and nobody else can reach into it."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    is_folder = (status.st_mode & 0o170000) == 0o040000
    return is_folder and status.st_uid == os.getuid() and not status.st_mode & 0o077


def is_ours(address: Address) -> bool:
    """Nobody else can have put the socket there: the worker may be dead, and its name free to be taken."""
    return is_private(os.path.dirname(address.socket))


def address_name(root: str) -> str:
    """The file that tells where the worker of a memory root listens."""
    return f"{crc32(os.fsencode(root)):08x}.json"


def find_address(root: str) -> Address | None:
    """Where the last worker of this memory root said it listens, or None. It may be dead by now."""
    for folder in dict.fromkeys(runtime_folders()):
        if not is_private(folder):
            continue
        try:
            with open(os.path.join(folder, address_name(root)), "rb", opener=_through_no_link) as file:
                document = json.load(file)
        except (OSError, ValueError, RecursionError):
            continue
        address = _address_of(document)
        if address is not None and address.root == root:
            return address
    return None


def _through_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _address_of(document: Any) -> Address | None:
    """The address that a file holds, or None: whatever stands there, a client can always work alone."""
    try:
        if document.pop("v") != PROTOCOL:
            return None
        address = Address(**document)
    except (AttributeError, KeyError, TypeError):  # no object, or a field is missing or unknown
        return None
    texts = (address.root, address.state_dir, address.socket)
    are_right = type(address.pid) is int and type(address.is_default_state_dir) is bool
    return address if are_right and all(map(_is_path, texts)) else None


def _is_path(value: object) -> bool:
    """A text that the system can take for a path."""
    try:
        return isinstance(value, str) and bool(os.fsencode(value))
    except UnicodeEncodeError:
        return False


def write_address(folder: str, address: Address) -> None:
    """Tell clients where the worker listens; readable by the user alone. Raises OSError."""
    from pathlib import Path  # only the worker writes: hooks do without

    from vaultmem.files import atomic

    line = json.dumps({"v": PROTOCOL, **address._asdict()}, separators=(",", ":")) + "\n"
    target = Path(folder, address_name(address.root))
    atomic.write_file(target, line.encode(), mode=0o600, is_durable=False)


def remove_address(folder: str, root: str, pid: int) -> None:
    """Take the address back, if it is still the one of this process. Raises OSError."""
    address = find_address(root)
    if address is not None and address.pid == pid:
        try:  # noqa: SIM105 - `contextlib` is not worth loading on every prompt
            os.unlink(os.path.join(folder, address_name(root)))
        except FileNotFoundError:
            pass
