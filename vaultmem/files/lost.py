"""Versions of notes that lost their name when two saves met: kept under `<memory root>/.vaultmem/lost/`.

Their names are `<time>-<name of the note>`. Nothing here is ever deleted by us.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from vaultmem.files import atomic, beneath
from vaultmem.text.moments import utc_now, utc_text

FOLDER = ".vaultmem/lost"
NAME_LIMIT_BYTES = 200
READ_LIMIT_BYTES = 1 << 24

_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z-(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class LostVersion:
    """A version that somebody saved and that lies under no note's name."""

    place: str
    """Its path relative to the memory root."""
    name: str
    """The file name of the note that it was a version of, as far as it could be kept."""
    data: bytes
    """Its bytes, or their beginning."""


def keep(root: Path, folder: int, aside: str, name: str) -> str:
    """Move a file that was left aside in a note's folder to the lost versions; its path relative to the root.

    It stays the same file: whoever still writes into it writes there. Raises OSError.
    """
    stamp = utc_text(utc_now()).replace(":", "")
    with beneath.folder(root, FOLDER, make=0o700) as target_folder:
        with contextlib.suppress(OSError), beneath.opened(folder, aside) as descriptor:
            os.fchmod(descriptor, 0o600)
        target = next(
            target
            for target in atomic.free_names(f"{stamp}-{_fitting(name)}")
            if atomic.move(folder, aside, target_folder, target)
        )
    return f"{FOLDER}/{target}"


def lost_versions(root: Path) -> Iterator[LostVersion]:
    """The lost versions that can be read, oldest first."""
    with contextlib.suppress(OSError), beneath.folder(root, FOLDER) as folder:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
        for name in names:
            found = _NAME.fullmatch(name)
            if found and name.encode(errors="ignore").decode() == name:  # else it is no note's name
                with contextlib.suppress(OSError), beneath.opened(folder, name) as descriptor:
                    data = os.pread(descriptor, READ_LIMIT_BYTES, 0)
                    yield LostVersion(f"{FOLDER}/{name}", found[1], data)


def _fitting(name: str) -> str:
    """As much of a note's name as leaves room for the time, its suffix included."""
    stem, suffix = PurePath(name).stem, PurePath(name).suffix
    return os.fsencode(stem)[:NAME_LIMIT_BYTES].decode("utf-8", "ignore") + suffix[:8]
