"""The catalog's file: what cannot be opened is a StoreError, and stays as it is."""

from __future__ import annotations

import sqlite3

import pytest

from vaultmem.errors import StoreError
from vaultmem.stores.catalog import CATALOG_SCHEMA, Catalog
from vaultmem.stores.sqlite_file import as_store_error, is_passing


def test_a_reader_needs_the_file_and_makes_none(tmp_path):
    with pytest.raises(StoreError):
        Catalog(tmp_path / "none.sqlite", writable=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\0" + b"\xff" * 200])
def test_a_file_that_is_no_database_is_a_store_error(tmp_path, content):
    (tmp_path / "c.sqlite").write_bytes(content)
    with pytest.raises(StoreError):
        Catalog(tmp_path / "c.sqlite", writable=True)


def test_a_database_of_another_schema_is_a_store_error_that_says_so(tmp_path):
    with sqlite3.connect(tmp_path / "c.sqlite") as other:
        other.execute(f"PRAGMA user_version = {CATALOG_SCHEMA + 1}")
    other.close()
    with pytest.raises(StoreError, match="another version"):
        Catalog(tmp_path / "c.sqlite", writable=True)


def test_a_file_that_a_writer_could_not_begin_is_empty_and_not_another_versions(tmp_path):
    (tmp_path / "c.sqlite").touch()
    with pytest.raises(StoreError, match="is empty"):
        Catalog(tmp_path / "c.sqlite", writable=False)
    Catalog(tmp_path / "c.sqlite", writable=True).close()
    Catalog(tmp_path / "c.sqlite", writable=False).close()


def test_a_foreign_database_is_not_made_ours(tmp_path):
    with sqlite3.connect(tmp_path / "c.sqlite") as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()
    with pytest.raises(StoreError):
        Catalog(tmp_path / "c.sqlite", writable=True)


def _raised(path, sql, *, beside=""):
    """The StoreError of a statement, with another connection in the middle of a write."""
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute(beside or "SELECT 1")
        one = sqlite3.connect(path, isolation_level=None, timeout=0)
        with pytest.raises(StoreError) as refused, as_store_error(path):
            one.execute(sql)
        one.close()
    other.close()
    return refused.value


def test_a_failure_of_the_moment_is_told_from_one_of_the_file(tmp_path):
    path = tmp_path / "c.sqlite"
    assert is_passing(_raised(path, "BEGIN IMMEDIATE", beside="BEGIN IMMEDIATE"))
    assert not is_passing(_raised(path, "SELECT * FROM missing"))
    path.write_bytes(b"no database" * 100)
    with pytest.raises(StoreError) as torn:
        Catalog(path, writable=True)
    assert not is_passing(torn.value) and not is_passing(StoreError("damaged"))
