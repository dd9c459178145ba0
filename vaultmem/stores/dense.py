"""The dense store: embedded chunks with their vectors, kept in a LanceDB table (`dense_table`).

Small tables are searched flat, which is exact. From INDEX_FROM_ROWS on there is an IVF index with 8-bit scalar
quantisation, searched whole: every partition is probed. What it names is a proposal, and recall scores the notes of it
from their exact vectors. Unlike a graph (HNSW) it misses next to nothing on any distribution, is built in seconds
instead of minutes, and takes new rows in as they come.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from vaultmem.errors import StoreError
from vaultmem.notes.chunks import text_hash
from vaultmem.stores.dense_rows import DenseRow, RowTable, in_order, to_arrow
from vaultmem.stores.dense_table import DenseTable, index_keys, index_vectors
from vaultmem.stores.dense_upkeep import (
    BUILD_AGAIN_AFTER_S,
    PRUNABLE_OF_SMALL,
    IndexBuild,
    TableState,
    Upkeep,
    wanted_upkeep,
)
from vaultmem.stores.folders import REBUILD_ADVICE, folder_bytes, in_parts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

NOTES_PROBED, ROWS_PROBED = 20, 1
"""How many notes `verify` searches for, by how many of the nearest rows."""

ITSELF = 0.99
"""The cosine from which a vector is found again; the index keeps 8 bits of each value."""

VERSIONS_KEPT_FOR_S = 0.5
"""A clean-up keeps versions younger than this. Readers go to the newest version before each query, a query takes
milliseconds, and one that is overtaken all the same is tried again. In a burst of edits the kept versions of a small
table are what takes the space: each tidying has rewritten it."""

KEYS_PER_FILTER = 1_000
"""Values in one IN (…) of a filter; more are asked in several queries."""

ALL_PARTITIONS = 1_000_000

LENGTH_TOLERANCE = 0.01
"""A stored vector's length differs from 1 by rounding; one of zeros or noise by far more."""


class DenseStore:
    """The table in `folder`. A reader sees each commit of the writer, in whatever process.

    Threads may share an instance. Every method raises StoreError when the folder is torn or foreign. That there is
    one writer at a time is the caller's promise.
    """

    def __init__(self, folder: Path, dimension: int, *, writable: bool) -> None:
        self._folder = folder
        self._dimension = dimension
        self._writable = writable
        self._build: IndexBuild | None = None
        self._build_not_before_s = 0.0
        self._table = DenseTable(folder, dimension, writable=writable)

    def add(self, rows: Sequence[DenseRow]) -> None:
        """Add these rows in one commit; no rows is no work."""
        self._check_writable()
        if rows:
            with self._table.failures():
                table = self._table.opened()
                if table is None:  # an empty one is there, though it counts as false
                    table = self._table.made()
                table.add(to_arrow(rows, self._dimension))

    def delete(self, versions: Collection[tuple[int, str]]) -> None:
        """Delete the rows of exactly these (note_key, digest) versions; no versions is no work."""
        self._check_writable()
        for part in in_parts(sorted(set(versions)), KEYS_PER_FILTER):
            self._delete(_of_versions(part))

    def delete_keys(self, note_keys: Collection[int]) -> None:
        """Delete all rows of these notes; no keys is no work."""
        self._check_writable()
        for part in in_parts(sorted(set(note_keys)), KEYS_PER_FILTER):
            self._delete(_of_notes(part))

    def near_notes(self, vector: NDArray[np.float32], limit: int) -> set[int]:
        """The notes of the `limit` rows nearest to `vector` ((d,) of any length), for exact scoring.

        Nearness is cosine, exact without an index and of 8-bit vectors with one. A vector without a direction
        (zero, not finite) is near nothing.
        """
        import numpy as np

        query = np.asarray(vector, dtype=np.float32)
        if limit <= 0 or not np.isfinite(query).all() or not query.any():
            return set()

        def search(table: Any) -> Any:
            found = table.search(query, vector_column_name="vector").distance_type("cosine").limit(limit)
            return found.nprobes(ALL_PARTITIONS).select(["note_key", "_distance"]).to_arrow()

        found = self._table.do(search)
        return set() if found is None else set(found["note_key"].to_pylist())

    def read(self, note_keys: Collection[int]) -> RowTable | None:
        """All rows of these notes by column, with exact vectors; None while the store has never had any."""
        found = [
            self._rows_where(_of_notes(part)) for part in in_parts(sorted(set(note_keys)), KEYS_PER_FILTER)
        ]
        tables = [table for table in found if table is not None]
        return RowTable.of(tables) if tables else None

    def rows(self, note_keys: Collection[int]) -> list[DenseRow]:
        """All rows of these notes, ordered by note, version, part and ordinal, with exact vectors."""
        found = self.read(note_keys)
        return [] if found is None else sorted(found.rows(), key=in_order)

    def versions(self) -> dict[tuple[int, str], int]:
        """Every (note_key, digest) that is in the store, with how many rows it has."""
        table = self._table.do(lambda table: table.search().select(["note_key", "digest"]).to_arrow())
        if table is None:
            return {}
        grouped = table.group_by(["note_key", "digest"]).aggregate([([], "count_all")])
        keys, digests, counts = (grouped[name].to_pylist() for name in ("note_key", "digest", "count_all"))
        return {(key, digest): count for key, digest, count in zip(keys, digests, counts, strict=True)}

    def count(self) -> int:
        """The number of rows."""
        return int(self._table.do(lambda table: table.count_rows()) or 0)

    def size_bytes(self) -> int:
        """What the folder takes on disk."""
        with self._table.failures():
            return folder_bytes(self._folder)

    def maintain(self, *, force: bool = False) -> None:
        """Do the upkeep that is due (`dense_upkeep`). Most calls find none, in 2 ms; a child is not waited for.

        With `force` the table is tidied in any case, down to its newest version, and a child is waited for.
        """
        self._check_writable()
        with self._table.failures():
            table = self._table.opened()
            if table is None or self._is_building(wait=force):
                return
            wanted = wanted_upkeep(self._state(table))
            if (
                wanted in (Upkeep.REBUILD, Upkeep.REBUILD_IN_CHILD)
                and time.monotonic() >= self._build_not_before_s
            ):
                self._rebuild(in_child=wanted is Upkeep.REBUILD_IN_CHILD)
                if self._is_building(wait=force):
                    return
            if force or wanted is not Upkeep.NOTHING:
                self._tidy(table, kept_for_s=0.001 if force else VERSIONS_KEPT_FOR_S, is_alone=True)

    def rebuild_index(self) -> None:
        """Make the vector index anew over all rows and merge all files: what a child process is started for.

        The parent may write meanwhile. Its deletes can win over the merge, which is then left for another time.
        """
        self._check_writable()
        with self._table.failures():
            table = self._table.opened()
            if table is None:
                return
            index_vectors(table)
            try:
                self._table.retried(
                    lambda table: self._tidy(table, kept_for_s=VERSIONS_KEPT_FOR_S, is_alone=False)
                )
            except RuntimeError as error:
                if "commit conflict" not in str(error):
                    raise

    def probe(self) -> bool:
        """Whether a stored vector finds itself, or an equal one; an empty store answers True."""
        table = self._table.do(lambda table: table.search().limit(1).to_arrow())
        if table is None or table.num_rows == 0:
            return True
        return self._finds_itself(table["note_key"][0].as_py())

    @property
    def is_untidy(self) -> bool:
        """There may be something for `maintain` to do; costs one look at a folder, and loads nothing."""
        return self._table.count_older(time.time()) >= PRUNABLE_OF_SMALL

    @property
    def is_building(self) -> bool:
        """A child process makes the index anew."""
        return self._is_building(wait=False)

    @property
    def has_files(self) -> bool:
        """There are data files; finding out loads nothing."""
        return self._table.has_files

    def verify(self) -> None:
        """Read every row by its key: its text is that of its hash, its vector of unit length, and none is missing.

        Some vectors, spread over all, are searched for and must be found. Raises StoreError otherwise.
        """
        import numpy as np

        versions = self.versions()
        rows_of: Counter[int] = Counter()
        for (key, _), count in versions.items():
            rows_of[key] += count
        keys = sorted(rows_of)
        for part in in_parts(keys, KEYS_PER_FILTER):
            read = self.read(part)
            if read is None or Counter(read.column("note_key")) != {key: rows_of[key] for key in part}:
                raise StoreError(
                    f"the dense store {self._folder} does not find its rows by their keys",
                    advice=REBUILD_ADVICE,
                )
            hashes = [text_hash(text) for text in read.column("text")]
            lengths = np.linalg.norm(read.vectors, axis=1)
            if hashes != read.column("text_hash") or not (abs(lengths - 1) < LENGTH_TOLERANCE).all():
                raise StoreError(f"the dense store {self._folder} holds damaged rows", advice=REBUILD_ADVICE)
        if not all(self._finds_itself(key) for key in keys[:: 1 + len(keys) // NOTES_PROBED]):
            raise StoreError(
                f"the dense store {self._folder} does not find its own vectors", advice=REBUILD_ADVICE
            )

    def _finds_itself(self, key: int) -> bool:
        """Whether a vector of this note leads to it, or to one that says the same."""
        read = self.read([key])
        assert read is not None
        vector = read.vectors[0]
        near = self.near_notes(vector, ROWS_PROBED)
        found = self.read(near)
        return found is not None and bool((found.vectors @ vector).max(initial=0.0) > ITSELF)

    def close(self) -> None:
        """Let go of the table, and wait for an index build that is under way. A second close is harmless."""
        self._is_building(wait=True)
        self._table.close()

    def _check_writable(self) -> None:
        if not self._writable:
            raise StoreError(f"the dense store {self._folder} was opened for reading only")

    def _delete(self, condition: str) -> None:
        self._table.do(lambda table: table.delete(condition))

    def _rows_where(self, condition: str) -> Any:
        return self._table.do(lambda table: table.search().where(condition).to_arrow())

    def _state(self, table: Any) -> TableState:
        rows = table.count_rows()
        files = table.stats()["fragment_stats"]
        indexes = {index.columns[0]: index for index in table.list_indices()}
        keys, vectors = indexes.get("note_key"), indexes.get("vector")
        return TableState(
            rows=rows,
            deleted_rows=max(0, round(files["num_fragments"] * files["lengths"]["mean"]) - rows),
            prunable_versions=self._table.count_older(time.time() - VERSIONS_KEPT_FOR_S),
            unindexed_keys=rows if keys is None else keys.num_unindexed_rows,
            segments=0 if vectors is None else vectors.num_segments,
            unindexed_rows=rows if vectors is None else vectors.num_unindexed_rows,
        )

    def _tidy(self, table: Any, *, kept_for_s: float, is_alone: bool) -> None:
        if not any(index.columns == ["note_key"] for index in table.list_indices()):
            index_keys(table)
        # Files that no version names are leftovers of a killed writer, unless another process is about to commit.
        table.optimize(cleanup_older_than=timedelta(seconds=kept_for_s), delete_unverified=is_alone)

    def _rebuild(self, *, in_child: bool) -> None:
        try:
            if in_child:
                self._build = IndexBuild(self._folder, self._dimension)
            else:
                index_vectors(self._table.opened())
        except (OSError, RuntimeError):  # no interpreter to start, or Lance cannot; flat search goes on
            self._build_not_before_s = time.monotonic() + BUILD_AGAIN_AFTER_S

    def _is_building(self, *, wait: bool) -> bool:
        """Whether a child is at work; with `wait` it no longer is."""
        if self._build is None or (self._build.is_running and not wait):
            return self._build is not None
        if not self._build.wait():
            self._build_not_before_s = time.monotonic() + BUILD_AGAIN_AFTER_S
        self._build = None
        return False


def _of_notes(note_keys: Collection[int]) -> str:
    return f"note_key IN ({', '.join(str(int(key)) for key in note_keys)})"


def _of_versions(versions: Collection[tuple[int, str]]) -> str:
    """The filter for exactly these versions: the key index narrows, the joined text decides."""
    names = ", ".join(_quoted(f"{int(key)}:{digest}") for key, digest in versions)
    keys = sorted({key for key, _ in versions})
    return f"{_of_notes(keys)} AND concat(CAST(note_key AS STRING), ':', digest) IN ({names})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
