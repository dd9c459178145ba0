"""The dense store: embedded chunks with their vectors, kept in a LanceDB table. The only module that imports lancedb.

Importing lancedb takes more than a second, so nothing here imports it until a table is really needed: opening a store,
and asking an empty one, costs two small file reads.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from vaultmem.errors import StoreError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

T = TypeVar("T")

SCHEMA_VERSION = 1
"""Part of the stamp; another number makes the folder foreign, and it is rebuilt."""

READ_ATTEMPTS = 4
"""A reader whose version was cleaned away between refresh and read opens the table again and retries."""

VERSIONS_KEPT_FOR_S = 180.0
"""A clean-up keeps versions younger than this, so that no reader in the middle of a query loses its files."""

KEYS_PER_FILTER = 1_000
"""Values in one IN (…) of a filter; more are asked in several queries."""

_TABLE = "chunks"
_STAMP_FILE = "store.json"
_ADVICE = "run `vaultmem sync`; the store is rebuilt from the notes"


class Part(StrEnum):
    """What of a note a row embeds."""

    METADATA = "metadata"
    BODY = "body"


@dataclass(frozen=True, slots=True, eq=False)
class DenseRow:
    """One embedded text of one version of a note. `vector` is (d,) float32, centred and of unit length."""

    note_key: int
    digest: str
    part: Part
    ordinal: int
    heading: str
    line_start: int
    line_end: int
    text: str
    text_hash: str
    lang: str
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class DenseHit:
    """A row near the query. `cosine` is exact, from -1 to 1."""

    note_key: int
    digest: str
    text_hash: str
    cosine: float


class DenseStore:
    """The table in `folder`. A reader sees each commit of the writer, in whatever process.

    One instance belongs to one thread at a time. Every method raises StoreError when the folder is torn or foreign.
    That there is one writer at a time is the caller's promise.
    """

    def __init__(self, folder: Path, dimension: int, *, writable: bool) -> None:
        self._folder = folder
        self._dimension = dimension
        self._writable = writable
        self._open_table: Any = None
        with _failures(folder):
            self._check_stamp()

    def add(self, rows: Sequence[DenseRow]) -> None:
        """Add these rows in one commit; no rows is no work."""
        if not rows:
            return
        self._check_writable()
        with _failures(self._folder):
            table = self._table() or self._made_table()
            table.add(_to_arrow(rows, self._dimension))

    def delete(self, versions: Collection[tuple[int, str]]) -> None:
        """Delete the rows of exactly these (note_key, digest) versions; no versions is no work."""
        self._check_writable()
        for part in _parts(sorted(set(versions))):
            keys = ", ".join(str(int(key)) for key in sorted({key for key, _ in part}))
            names = ", ".join(_quoted(f"{int(key)}:{digest}") for key, digest in part)
            self._delete_where(
                f"note_key IN ({keys}) AND concat(CAST(note_key AS STRING), ':', digest) IN ({names})"
            )

    def delete_keys(self, note_keys: Collection[int]) -> None:
        """Delete all rows of these notes; no keys is no work."""
        self._check_writable()
        for part in _parts(sorted(set(note_keys))):
            self._delete_where(_of_notes(part))

    def nearest(self, vector: NDArray[np.float32], limit: int) -> list[DenseHit]:
        """Return the rows nearest to `vector` ((d,) of any length but zero), at most `limit`, best first."""
        import numpy as np

        query = np.asarray(vector, dtype=np.float32)
        if limit <= 0 or not np.isfinite(query).all() or not query.any():
            return []

        def search(table: Any) -> pa.Table:
            found = table.search(query, vector_column_name="vector").distance_type("cosine").limit(limit)
            return found.select(["note_key", "digest", "text_hash", "_distance"]).to_arrow()

        return _hits(self._read(search))

    def rows(self, note_keys: Collection[int]) -> list[DenseRow]:
        """Return all rows of these notes, ordered by note, version, part and ordinal, with exact vectors."""
        found: list[DenseRow] = []
        for part in _parts(sorted(set(note_keys))):
            condition = _of_notes(part)
            found.extend(
                _from_arrow(self._read(lambda table, c=condition: table.search().where(c).to_arrow()))
            )
        return sorted(
            found, key=lambda row: (row.note_key, row.digest, row.part != Part.METADATA, row.ordinal)
        )

    def versions(self) -> dict[tuple[int, str], int]:
        """Return every (note_key, digest) that is in the store, with how many rows it has."""
        table = self._read(lambda table: table.search().select(["note_key", "digest"]).to_arrow())
        if table is None:
            return {}
        grouped = table.group_by(["note_key", "digest"]).aggregate([([], "count_all")])
        keys, digests, counts = (grouped[name].to_pylist() for name in ("note_key", "digest", "count_all"))
        return {(key, digest): count for key, digest, count in zip(keys, digests, counts, strict=True)}

    def count(self) -> int:
        """Return the number of rows."""
        return int(self._read(lambda table: table.count_rows()) or 0)

    def size_bytes(self) -> int:
        """Return what the folder takes on disk."""
        return sum(_size(path) for path in self._folder.rglob("*"))

    def maintain(self, *, force: bool = False) -> None:
        """Compact small files, fold new rows into the indexes and remove old versions."""
        self._check_writable()
        with _failures(self._folder):
            table = self._table()
            if table is None:
                return
            kept_for = timedelta(0) if force else timedelta(seconds=VERSIONS_KEPT_FOR_S)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                table.optimize(cleanup_older_than=kept_for)

    def probe(self) -> bool:
        """Return whether a stored vector finds itself; an empty store answers True."""
        table = self._read(lambda table: table.search().select(["text_hash", "vector"]).limit(1).to_arrow())
        if table is None or table.num_rows == 0:
            return True
        vector = _matrix(table["vector"])[0]
        found = self.nearest(vector, 1)
        return bool(found) and found[0].cosine > 0.99

    def close(self) -> None:
        """Let go of the table; the store opens it again when it is asked again."""
        self._open_table = None

    def _check_writable(self) -> None:
        if not self._writable:
            raise StoreError(f"the dense store {self._folder} was opened for reading only")

    def _check_stamp(self) -> None:
        path = self._folder / _STAMP_FILE
        if (
            self._writable
            and not path.exists()
            and not (self._folder.is_dir() and any(self._folder.iterdir()))
        ):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._write_stamp(has_table=False)
        stamp = json.loads(path.read_text(encoding="utf-8"))
        expected = {**_stamp(self._dimension), "has_table": stamp["has_table"]}
        if stamp != expected:
            raise StoreError(f"{self._folder} is not a dense store of this version", advice=_ADVICE)
        if stamp["has_table"] and not self._has_manifest():
            raise StoreError(f"the dense store {self._folder} has lost its table", advice=_ADVICE)

    def _write_stamp(self, *, has_table: bool) -> None:
        path = self._folder / _STAMP_FILE
        written = path.with_suffix(".new")
        written.write_text(json.dumps({**_stamp(self._dimension), "has_table": has_table}), encoding="utf-8")
        os.replace(written, path)

    def _has_manifest(self) -> bool:
        return next((self._folder / f"{_TABLE}.lance" / "_versions").glob("*.manifest"), None) is not None

    def _table(self) -> Any:
        """Return the open table, or None while nothing was ever added."""
        if self._open_table is None and self._has_manifest():
            import lancedb

            database = lancedb.connect(self._folder, read_consistency_interval=timedelta(0))
            table = database.open_table(_TABLE)
            if not table.schema.equals(_schema(self._dimension)):
                raise StoreError(f"{self._folder} is not a dense store of this version", advice=_ADVICE)
            self._open_table = table
        return self._open_table

    def _made_table(self) -> Any:
        import lancedb
        from lancedb.index import BTree

        database = lancedb.connect(self._folder, read_consistency_interval=timedelta(0))
        self._open_table = database.create_table(_TABLE, schema=_schema(self._dimension))
        self._open_table.create_index("note_key", config=BTree())
        self._write_stamp(has_table=True)
        return self._open_table

    def _delete_where(self, condition: str) -> None:
        with _failures(self._folder):
            table = self._table()
            if table is not None:
                table.delete(condition)

    def _read(self, read: Callable[[Any], T]) -> T | None:
        """Return what `read` makes of the newest table, or None when there is none yet."""
        with _failures(self._folder):
            for attempt in range(READ_ATTEMPTS):
                try:
                    table = self._table()
                    return None if table is None else read(table)
                except Exception:
                    self._open_table = None
                    if attempt == READ_ATTEMPTS - 1:
                        raise
        return None


def _stamp(dimension: int) -> dict[str, Any]:
    return {"store": "vaultmem dense", "version": SCHEMA_VERSION, "dimension": dimension}


def _schema(dimension: int) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            ("note_key", pa.int64()),
            ("digest", pa.string()),
            ("part", pa.string()),
            ("ordinal", pa.int32()),
            ("heading", pa.string()),
            ("line_start", pa.int32()),
            ("line_end", pa.int32()),
            ("text", pa.string()),
            ("text_hash", pa.string()),
            ("lang", pa.string()),
            ("vector", pa.list_(pa.float32(), dimension)),
        ]
    )


def _to_arrow(rows: Sequence[DenseRow], dimension: int) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    schema = _schema(dimension)
    matrix = np.stack([row.vector for row in rows]).astype(np.float32, copy=False)
    if matrix.shape[1] != dimension:
        raise StoreError(f"vectors of {matrix.shape[1]} dimensions do not fit a store of {dimension}")
    columns = [
        pa.array([getattr(row, name) for row in rows], schema.field(name).type) for name in schema.names[:-1]
    ]
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), dimension)
    return pa.Table.from_arrays([*columns, vectors], schema=schema)


def _from_arrow(table: pa.Table | None) -> Iterator[DenseRow]:
    if table is None:
        return
    vectors = _matrix(table["vector"])
    columns = [table[name].to_pylist() for name in table.schema.names if name != "vector"]
    for vector, (key, digest, part, *rest) in zip(vectors, zip(*columns, strict=True), strict=True):
        yield DenseRow(key, digest, Part(part), *rest, vector)


def _matrix(column: pa.ChunkedArray) -> NDArray[np.float32]:
    import numpy as np

    flat = column.combine_chunks().flatten().to_numpy()
    return np.asarray(flat, dtype=np.float32).reshape(len(column), column.type.list_size)


def _hits(table: pa.Table | None) -> list[DenseHit]:
    if table is None:
        return []
    columns = (table[name].to_pylist() for name in ("note_key", "digest", "text_hash", "_distance"))
    return [
        DenseHit(key, digest, text, 1.0 - distance)
        for key, digest, text, distance in zip(*columns, strict=True)
    ]


def _of_notes(note_keys: Collection[int]) -> str:
    return f"note_key IN ({', '.join(str(int(key)) for key in note_keys)})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _parts(values: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), KEYS_PER_FILTER):
        yield values[start : start + KEYS_PER_FILTER]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:  # a clean-up removed it meanwhile
        return 0


@contextmanager
def _failures(folder: Path) -> Iterator[None]:
    try:
        yield
    except StoreError:
        raise
    except BaseException as error:
        # A panic inside Lance arrives as a BaseException that is no Exception; interrupts must go through.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise StoreError(f"the dense store {folder} cannot be used: {error}", advice=_ADVICE) from error
        raise
