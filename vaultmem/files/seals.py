"""What the files of a store were when we last wrote them, so that what anybody or anything else did to them is seen.

The back ends keep no sums of their own that they look at, and a flipped bit in a store answers wrongly without a
word. But nobody except our writer changes a file here, so equal stat values mean an untouched file, which costs a
sync one `stat` a file; other values make it be read, and its digest decides. Only doctor reads every file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import NamedTuple

from vaultmem.files import atomic, beneath
from vaultmem.files.snapshot import FileStat

_LOCKS = ".lock"
"""Files of this ending hold nothing, and the back ends make them as they like."""
_READ_BYTES = 1 << 20
_DIGEST_BYTES = 16


class FileSeal(NamedTuple):
    """One file as it was left."""

    stat: FileStat
    digest: str


Seal = Mapping[str, FileSeal]
"""Every file of a folder, by its path in it."""


@dataclass(frozen=True, slots=True)
class Tampering:
    """How the files of a folder differ from their seal, by path."""

    damaged: tuple[str, ...] = ()
    """Other bytes than those that were written."""
    vanished: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    """There, but not sealed."""
    restamped: tuple[str, ...] = ()
    """The same bytes under other stat values, as after a copy."""

    @property
    def is_none(self) -> bool:
        """The files are those that were sealed."""
        return not (self.damaged or self.vanished or self.strange)

    def __str__(self) -> str:
        kinds = (("damaged", self.damaged), ("missing", self.vanished), ("unknown", self.strange))
        return "; ".join(f"{kind}: {_named(names)}" for kind, names in kinds if names)


def take(folder: Path, before: Seal) -> dict[str, FileSeal]:
    """The seal of a folder as it is now; of files that are as they were `before` nothing is read."""
    made = {}
    for name, stat in _stats(folder).items():
        known = before.get(name)
        with contextlib.suppress(FileNotFoundError):  # a back end cleans up behind itself
            digest = known.digest if known is not None and known.stat == stat else _digest(folder, name)
            made[name] = FileSeal(stat, digest)
    return made


def compare(folder: Path, seal: Seal, *, every_byte: bool = False) -> Tampering:
    """How a folder differs from its seal. With `every_byte` equal stat values are not believed."""
    found = _stats(folder)
    moved = [n for n, stat in found.items() if n in seal and (every_byte or seal[n].stat != stat)]
    damaged = [name for name in moved if _digest_or_none(folder, name) != seal[name].digest]
    return Tampering(
        damaged=tuple(sorted(damaged)),
        vanished=tuple(sorted(seal.keys() - found.keys())),
        strange=tuple(sorted(found.keys() - seal.keys())),
        restamped=tuple(sorted(n for n in moved if n not in damaged and seal[n].stat != found[n])),
    )


def is_untouched(folder: Path, seal: Seal) -> bool:
    """The same files with the same stat values; nothing is read."""
    return _stats(folder) == {name: sealed.stat for name, sealed in seal.items()}


def to_text(seal: Seal) -> str:
    """A seal as text."""
    values = {name: (*astuple(sealed.stat), sealed.digest) for name, sealed in seal.items()}
    return json.dumps(values, separators=(",", ":"))


def of_text(text: str | None) -> dict[str, FileSeal] | None:
    """A seal of its text; None where there is none."""
    if text is None:
        return None
    try:
        values = json.loads(text).items()
        return {name: FileSeal(FileStat(*stat), digest) for name, (*stat, digest) in values}
    except (ValueError, TypeError, AttributeError):
        return None


def stat_of(path: Path) -> FileStat | None:
    """What tells a file from one that was changed since; None when it is not there."""
    try:
        return FileStat.of(path.lstat())
    except OSError:
        return None


def is_as_left(database: Path) -> bool:
    """An SQLite file has the stat values that were noted when we last knew it sound."""
    try:
        said = json.loads(_note_of(database).read_bytes())
    except (OSError, ValueError):
        return False
    stat = stat_of(database)
    return stat is not None and said == list(astuple(stat))


def note_left(database: Path) -> None:
    """Note the stat values of an SQLite file that is sound."""
    stat = stat_of(database)
    with contextlib.suppress(OSError):  # then it is looked at once more
        note = json.dumps(stat and astuple(stat)).encode()
        atomic.write_file(_note_of(database), note, mode=0o600, is_durable=False)


def _note_of(database: Path) -> Path:
    return database.with_suffix(".stat")


def _stats(folder: Path) -> dict[str, FileStat]:
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)  # noqa: PTH118 - some hundred files before every answer
            if not name.endswith(_LOCKS):
                with contextlib.suppress(FileNotFoundError):
                    found[os.path.relpath(path, folder)] = FileStat.of(os.lstat(path))
    return found


def _digest_or_none(folder: Path, name: str) -> str | None:
    try:
        return _digest(folder, name)
    except OSError:
        return None


def _digest(folder: Path, name: str) -> str:
    made = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    with os.fdopen(beneath.open_file(folder, name), "rb") as file:
        while block := file.read(_READ_BYTES):
            made.update(block)
    return made.hexdigest()


def _named(names: tuple[str, ...], most: int = 2) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
