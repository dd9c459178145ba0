"""Rows as values and as Arrow tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stores.rows import DIMENSION, row, same
from vaultmem.errors import StoreError
from vaultmem.stores.dense_rows import DenseRow, Part, RowTable, in_order, to_arrow

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.integers(0, 2**31 - 1)


@st.composite
def dense_rows(draw: st.DrawFn) -> DenseRow:
    changes = {name: draw(texts) for name in ("digest", "heading", "text", "text_hash", "lang")}
    places = {name: draw(numbers) for name in ("ordinal", "line_start", "line_end")}
    return row(draw(st.integers(0, 2**63 - 1)), part=draw(st.sampled_from(Part)), **changes, **places)


@given(st.lists(dense_rows(), max_size=5))
def test_rows_come_out_of_a_table_as_they_went_in(given_: list[DenseRow]) -> None:
    table = RowTable(to_arrow(given_, DIMENSION))
    assert all(map(same, table.rows(), given_)) and len(table.rows()) == len(given_)
    assert table.vectors.shape == (len(given_), DIMENSION)
    assert table.column("text") == [one.text for one in given_]


def test_rows_are_taken_by_their_places_in_the_order_asked_for() -> None:
    table = RowTable.of([to_arrow([row(1), row(2)], DIMENSION), to_arrow([row(3)], DIMENSION)])
    assert [one.note_key for one in table.rows([2, 0, 2])] == [3, 1, 3]
    assert same(table.rows([2])[0], row(3))
    assert table.rows([]) == []


def test_in_order_is_by_note_and_version_with_the_metadata_first() -> None:
    ordered = [row(1, "bb"), row(2, "aa", part=Part.METADATA), row(2), row(2, ordinal=1), row(10)]
    mixed = [ordered[place] for place in (3, 0, 4, 2, 1)]
    assert sorted(mixed, key=in_order) == ordered


@pytest.mark.parametrize("length", [0, DIMENSION - 1, DIMENSION + 1])
def test_no_table_is_made_of_a_vector_of_another_length(length: int) -> None:
    with pytest.raises(StoreError, match="length"):
        to_arrow([row(1), row(2, vector=np.ones(length, dtype=np.float32))], DIMENSION)


@pytest.mark.parametrize("name", ["text", "heading", "lang"])
def test_a_text_that_is_damaged_is_a_broken_store_and_no_crash(name: str) -> None:
    table = to_arrow([row(1)], DIMENSION)
    damaged = pa.array([b"\xff\xfe"], pa.binary()).view(pa.string())
    read = RowTable(table.set_column(table.schema.get_field_index(name), name, damaged))
    with pytest.raises(StoreError, match=name):
        read.column(name)
    with pytest.raises(StoreError, match=name):
        read.rows()
