"""The LanceDB table of the dense store: made, opened, seen at its newest version. The only module that imports lancedb.

Importing lancedb takes more than a second, so nothing here imports it until a table is really needed: opening a
store, and asking an empty one, costs two small file reads.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from vaultmem.errors import StoreError
from vaultmem.files import atomic
from vaultmem.stores.dense_rows import schema
from vaultmem.stores.folders import REBUILD_ADVICE, failures_of, is_vacant

T = TypeVar("T")

DENSE_FORMAT = 1
"""Part of the stamp; another number makes the folder foreign, and it is rebuilt."""

ATTEMPTS = 4
"""A read whose version is cleaned away under it, and a delete that meets the index build's commit, are tried again."""

ROWS_PER_PARTITION = 10_000
"""Partitions only share out the work, for all of them are probed; each costs a search 0.05 ms of its own."""

INDEX_CACHE_BYTES = 256 << 20
METADATA_CACHE_BYTES = 4 << 20
"""Lance would keep up to 6 GB and 1 GB. The index of 100,000 rows takes 39 MB. What it keeps of old versions takes many
times what it counts for them: with 32 MB a process grew by 90 MB in 1,200 edits, and a search is no faster for it."""

MALLOC_ARENAS = 2
"""glibc's allocator gives each of Lance's threads an arena and never takes its pages back: 60 flat searches of 10,000
rows left 318 MB; with two arenas 228 MB, and no search was slower."""

_M_ARENA_MAX = -8  # glibc's <malloc.h>
_TABLE = "chunks"
_STAMP_FILE = "store.json"


class DenseTable:
    """The table in `folder`, which need not be there yet. It always shows the newest commit, of whatever process."""

    def __init__(self, folder: Path, dimension: int, *, writable: bool) -> None:
        self._folder = folder
        self._dimension = dimension
        self._open_table: Any = None
        self._opened_as: int | None = None
        with self.failures():
            if writable and is_vacant(folder):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._write_stamp(has_table=False)
            self._check_stamp()

    def failures(self) -> AbstractContextManager[None]:
        """Turns every failure inside into a StoreError."""
        return failures_of("dense", self._folder)

    def do(self, act: Callable[[Any], T]) -> T | None:
        """What `act` makes of the newest table, tried again when it is overtaken; None when there is none yet."""
        with self.failures():
            return self.retried(act)

    def retried(self, act: Callable[[Any], T]) -> T | None:
        """The same, with Lance's own exceptions in the end."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                table = self.opened()
                return None if table is None else act(table)
            except (RuntimeError, ValueError, OSError):  # what Lance raises
                if attempt == ATTEMPTS:
                    raise
                self.close()
        return None

    def opened(self) -> Any:
        """The open table, or None while nothing was ever added."""
        # Lance takes a table that was deleted under it for an empty one, and would write it anew.
        found_as = _inode(self._manifest_folder)
        if self._open_table is not None and found_as == self._opened_as:
            return self._open_table
        self._check_stamp()
        if found_as is None:
            return None
        table = _database(self._folder).open_table(_TABLE)
        if not table.schema.equals(schema(self._dimension)):
            raise StoreError(f"{self._folder} is not a dense store of this version", advice=REBUILD_ADVICE)
        self._open_table, self._opened_as = table, found_as
        return table

    def made(self) -> Any:
        """The table, made now, with an index of its keys."""
        table = _database(self._folder).create_table(_TABLE, schema=schema(self._dimension))
        index_keys(table)
        self._write_stamp(has_table=True)
        self._open_table, self._opened_as = table, _inode(self._manifest_folder)
        return table

    def close(self) -> None:
        """Let go of the table; the next use opens it again."""
        self._open_table = None

    @property
    def has_files(self) -> bool:
        """There are data files; finding out loads nothing."""
        return any((self._folder / f"{_TABLE}.lance" / "data").glob("*"))

    def count_older(self, than_s: float) -> int:
        """How many versions were written before this moment (seconds since the epoch)."""
        return sum(_modified_s(path) < than_s for path in self._manifests())

    def _check_stamp(self) -> None:
        stamp = json.loads((self._folder / _STAMP_FILE).read_text(encoding="utf-8"))
        if stamp not in (_stamp(self._dimension, True), _stamp(self._dimension, False)):
            raise StoreError(f"{self._folder} is not a dense store of this version", advice=REBUILD_ADVICE)
        if stamp["has_table"] and not self._manifests():
            raise StoreError(f"the dense store {self._folder} has lost its table", advice=REBUILD_ADVICE)

    def _write_stamp(self, *, has_table: bool) -> None:
        stamp = json.dumps(_stamp(self._dimension, has_table)).encode()
        atomic.write_file(self._folder / _STAMP_FILE, stamp, is_durable=False)

    def _manifests(self) -> list[Path]:
        return list(self._manifest_folder.glob("*.manifest"))

    @property
    def _manifest_folder(self) -> Path:
        return self._folder / f"{_TABLE}.lance" / "_versions"


def _database(folder: Path) -> Any:
    if "lancedb" not in sys.modules:
        _limit_arenas()
        os.environ.setdefault(
            "LANCEDB_LOG", "error"
        )  # its advice on few or equal vectors is not for the user
    import lancedb

    session = lancedb.Session(
        index_cache_size_bytes=INDEX_CACHE_BYTES, metadata_cache_size_bytes=METADATA_CACHE_BYTES
    )
    return lancedb.connect(folder, read_consistency_interval=timedelta(0), session=session)


def _limit_arenas() -> None:
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # a C library without this knob
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, MALLOC_ARENAS)


def index_keys(table: Any) -> None:
    """Make the index by which the rows of a note are found."""
    from lancedb.index import BTree

    table.create_index("note_key", config=BTree())


def index_vectors(table: Any) -> None:
    """Make the vector index anew over all rows."""
    from lancedb.index import IvfSq

    partitions = max(1, table.count_rows() // ROWS_PER_PARTITION)
    table.create_index("vector", config=IvfSq(distance_type="cosine", num_partitions=partitions))


def _stamp(dimension: int, has_table: bool) -> dict[str, Any]:
    return {
        "store": "vaultmem dense",
        "version": DENSE_FORMAT,
        "dimension": dimension,
        "has_table": has_table,
    }


def _inode(folder: Path) -> int | None:
    try:
        return folder.stat().st_ino
    except FileNotFoundError:
        return None


def _modified_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # a clean-up removed it meanwhile
        return time.time()
