"""What the catalog keeps of a note: the way to its columns and back, and what follows from the row."""

from __future__ import annotations

import sqlite3
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stores.records import record
from vaultmem.errors import StoreError
from vaultmem.files.snapshot import FileStat
from vaultmem.notes.metadata import Metadata, Status
from vaultmem.notes.problems import Code, Problem
from vaultmem.stores.catalog_rows import (
    METADATA_COLUMNS,
    WRITTEN_COLUMNS,
    Known,
    NoteRecord,
    NoteRow,
    read_known,
    read_row,
    written_values,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
optional = st.none() | texts
numbers = st.integers(0, 2**63 - 1)
metadata = st.builds(
    Metadata,
    optional,
    texts,
    texts,
    st.lists(texts, max_size=3).map(tuple),
    st.sampled_from(Status),
    optional,
    optional,
)
problems = st.builds(Problem, st.sampled_from(Code), texts, st.none() | numbers, st.none() | numbers)


def values_of(written: NoteRecord, *, at: dict[str, object] | None = None) -> list[Any]:
    """The values that SQLite would give for a record, but for those of some columns."""
    columns = dict(zip(WRITTEN_COLUMNS, written_values(written), strict=True)) | (at or {})
    return [7, *columns.values(), "lexical", None, 0, 1]


def row(**changes: object) -> NoteRow:
    return replace(read_row(values_of(record("a.md"))), **changes)


def known(**changes: object) -> Known:
    return replace(read_known([7, "a.md", *(1, 2, 3, 4), "d", "a", 1, "d"]), **changes)


@given(
    metadata, st.lists(problems, max_size=3).map(tuple), st.builds(FileStat, *[numbers] * 4), st.booleans()
)
def test_what_is_written_is_what_is_read(said, found, stat, is_readable) -> None:
    given_ = record("2026/笔记.md", stat=stat, problems=found, is_readable=is_readable)
    given_ = replace(given_, note=replace(given_.note, metadata=said))
    read = read_row(values_of(given_), frozenset({"h0"}))
    assert (read.note_key, read.path, read.metadata, read.stat) == (7, "2026/笔记.md", said, stat)
    assert (read.problems, read.is_readable, read.digest) == (found, is_readable, given_.note.digest)
    assert (read.lexical_digest, read.dense_digest, read.in_conflict) == ("lexical", None, False)
    assert read.chunk_hashes == {"h0"}


def test_a_row_that_is_not_as_it_was_written_is_the_databases_error() -> None:
    with pytest.raises(sqlite3.DatabaseError, match="not as it was written"):
        read_row([*values_of(record("a.md"))[:-1], 0])


def test_every_field_of_the_metadata_has_a_column_in_the_order_of_the_fields() -> None:
    assert list(METADATA_COLUMNS) == [field.name for field in fields(Metadata)]


@pytest.mark.parametrize(
    "damage",
    [{"tags": "["}, {"tags": "7"}, {"tags": None}, {"status": "odd"}],
    ids=["torn", "a number", "missing", "no status"],
)
def test_a_damaged_row_is_the_databases_error(damage) -> None:
    with pytest.raises(sqlite3.DatabaseError, match="damaged"):
        read_row(values_of(record("a.md"), at=damage))


@pytest.mark.parametrize("text", ['[["a code of tomorrow", ""]]', "[7]", "{"])
def test_problems_of_another_version_are_a_store_error_that_says_what_to_do(text) -> None:
    with pytest.raises(StoreError, match="another version") as refused:
        read_row(values_of(record("a.md"), at={"problems": text}))
    assert "doctor --repair" in refused.value.advice


def test_a_note_is_admitted_when_it_and_the_others_allow_it() -> None:
    assert row().is_admitted and row().is_indexed
    assert not row(in_conflict=True).is_admitted and not row(in_conflict=True).is_indexed
    silent = row(metadata=Metadata("a"))
    assert silent.is_indexed and not silent.is_admitted
    assert not row(metadata=Metadata(None, description="about")).is_indexed


def test_a_note_is_pending_while_the_vectors_are_of_other_bytes() -> None:
    assert row().is_pending and row(dense_digest="of other bytes").is_pending
    assert not row(dense_digest="digest of a.md").is_pending
    assert not row(metadata=Metadata(None)).is_pending


def test_a_note_is_settled_when_it_was_read_and_the_lexical_store_holds_it() -> None:
    assert known().is_settled and known().stat == FileStat(1, 2, 3, 4)
    assert not known(is_readable=False).is_settled
    assert known(lexical_digest=None).needs_indexing and not known(lexical_digest=None).is_settled
    assert known(id=None, lexical_digest=None).is_settled
