"""Rows as values and as Arrow tables."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.stores.rows import DIMENSION, row
from vaultmem.errors import StoreError
from vaultmem.stores.dense_rows import RowTable, to_arrow


@pytest.mark.parametrize("name", ["text", "heading", "lang"])
def test_a_text_that_is_damaged_is_a_broken_store_and_no_crash(name: str) -> None:
    table = to_arrow([row(1)], DIMENSION)
    damaged = pa.array([b"\xff\xfe"], pa.binary()).view(pa.string())
    read = RowTable(table.set_column(table.schema.get_field_index(name), name, damaged))
    with pytest.raises(StoreError, match=name):
        read.column(name)
    with pytest.raises(StoreError, match=name):
        read.rows()
