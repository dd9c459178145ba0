"""The rows of the dense store as values, and the way between them and Arrow tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from vaultmem.errors import StoreError
from vaultmem.stores.folders import REBUILD_ADVICE

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


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


_PLAIN = tuple(name for name in DenseRow.__slots__ if name != "vector")
"""The columns that are no vectors, in the order of the fields."""

_PARTS = {part.value: part for part in Part}


def in_order(row: DenseRow) -> tuple[int, str, bool, int]:
    """Sort key: by note, version, metadata before body, ordinal."""
    return row.note_key, row.digest, row.part is not Part.METADATA, row.ordinal


def schema(dimension: int) -> pa.Schema:
    """The table's schema for vectors of `dimension` values."""
    import pyarrow as pa

    texts = ("digest", "part", "heading", "text", "text_hash", "lang")
    small = ("ordinal", "line_start", "line_end")
    types = {"note_key": pa.int64(), "vector": pa.list_(pa.float32(), dimension)}
    types |= dict.fromkeys(texts, pa.string()) | dict.fromkeys(small, pa.int32())
    return pa.schema([(name, types[name]) for name in DenseRow.__slots__])


def to_arrow(rows: Sequence[DenseRow], dimension: int) -> pa.Table:
    """The rows as a table; StoreError when a vector has another dimension."""
    import numpy as np
    import pyarrow as pa

    if any(np.shape(row.vector) != (dimension,) for row in rows):
        raise StoreError(f"a vector of another length than {dimension} does not fit the dense store")
    fields = schema(dimension)
    columns = {
        name: pa.array([getattr(row, name) for row in rows], fields.field(name).type) for name in _PLAIN
    }
    flat = np.array([row.vector for row in rows], dtype=np.float32).ravel()
    columns["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(flat), dimension)
    return pa.table(columns, schema=fields)


class RowTable:
    """Rows by column, for work on many at once: the i-th value of every column is one row's, in no promised order."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.vectors: NDArray[np.float32] = matrix(table["vector"])
        """(n, d), centred and of unit length."""

    @classmethod
    def of(cls, tables: Sequence[pa.Table]) -> Self:
        """The rows of one table or more."""
        import pyarrow as pa

        return cls(pa.concat_tables(tables))

    def column(self, name: str) -> list[Any]:
        """The field `name` of every row, but for vectors; parts as plain strings. Raises StoreError."""
        return _values(self._table, name)

    def rows(self, at: Collection[int] | None = None) -> list[DenseRow]:
        """The rows at these places, in that order; every row without. Raises StoreError."""
        import pyarrow as pa

        table, vectors = self._table, self.vectors
        if at is not None:
            places = pa.array(at, pa.int64())
            table, vectors = table.take(places), vectors[places.to_numpy()]
        columns = {name: _values(table, name) for name in _PLAIN}
        columns["part"] = [_PARTS[part] for part in columns["part"]]
        of_row = zip(*columns.values(), vectors, strict=True)
        return [DenseRow(*values) for values in of_row]


def _values(table: pa.Table, name: str) -> list[Any]:
    try:
        values: list[Any] = table[name].to_pylist()
    except (
        ValueError
    ) as error:  # bytes of a damaged file that are no text; Arrow decodes when asked, not when it reads
        raise StoreError(f"the dense store holds a {name} that is damaged", advice=REBUILD_ADVICE) from error
    return values


def matrix(column: pa.ChunkedArray) -> NDArray[np.float32]:
    """A column of vectors as (n, d) float32."""
    import numpy as np

    values = column.combine_chunks()
    flat = np.asarray(values.flatten(), dtype=np.float32)
    return flat.reshape(len(column), column.type.list_size)
