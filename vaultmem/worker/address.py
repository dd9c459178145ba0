# ruff: noqa: PTH112, PTH118, PTH123
"""Where a worker's socket and address lie: a folder of this user alone, named by nothing that needs computing.

The address is looked for by the memory root's checksum and believed only when it names that root. Imported on
every prompt: the standard library's cheapest parts.
"""

from __future__ import annotations

import json
import os
import sys
from binascii import crc32
from collections.abc import Iterator
from typing import Any

ADDRESS_PROTOCOL = 1
"""A worker and a client of different protocols do not talk; the client does its work alone."""
HOOK_TIMEOUT_S = 0.8
"""For a worker to answer a hook's whole event. Both sides count it, lest a hint be recorded that came too late."""
LONGEST_BASE = 60
"""Of the folder's path: the path of a Unix socket is limited to 104 bytes on macOS, 108 on Linux."""


def runtime_folders() -> Iterator[str]:
    """Where the folder may be, the best place first: a login, a service and a cron job each see another one."""
    user = os.getuid() if hasattr(os, "getuid") else os.getlogin()
    bases = [os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{user}"]
    for base in bases:
        if base.startswith("/") and len(base) < LONGEST_BASE and os.path.isdir(base):
            yield os.path.join(base, "vaultmem")
    short = "/tmp" if sys.platform != "win32" else os.environ["TEMP"]  # $TMPDIR may be too long
    yield os.path.join(short, f"vaultmem-{user}")


def is_private(folder: str) -> bool:
    """The folder is there, is no link, and nobody else can reach into it."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    is_folder = (status.st_mode & 0o170000) == 0o040000
    return is_folder and (
        not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o077)
    )


def address_name(root: str) -> str:
    """The file that tells where the worker of a memory root listens."""
    return f"{crc32(os.fsencode(root)):08x}.json"


def find_address(root: str) -> dict[str, Any] | None:
    """What the worker of this memory root said last, or None. It may be dead by now."""
    for folder in dict.fromkeys(runtime_folders()):
        if not is_private(folder):
            continue
        try:
            with open(os.path.join(folder, address_name(root)), "rb") as file:
                address = json.load(file)
        except (OSError, ValueError):
            continue
        if isinstance(address, dict) and address.get("v") == ADDRESS_PROTOCOL and address.get("root") == root:
            return address
    return None
