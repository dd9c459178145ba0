"""The ledger: what it keeps, what it refuses to open, and what several threads and processes see of it."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from tests.stores.records import STAT, record, write
from vaultmem.errors import StoreError
from vaultmem.files.snapshot import FileStat
from vaultmem.notes.metadata import Metadata, Status
from vaultmem.notes.problems import Code, Problem
from vaultmem.stores.catalog import Catalog
from vaultmem.stores.catalog_rows import ChunkRef


def test_a_note_comes_back_as_it_was_written(catalog):
    problems = (Problem(Code.NO_TAGS, "why | this", 3, 4), Problem(Code.MISSING_STATUS))
    said = Metadata("a", "名 N", "about", ("标签", "x/y"), Status.ACTIVE, "2026-05-14", "2026-05-15 09:00")
    (key,) = write(catalog, record("2026/笔记.md", problems=problems, updated_at=said.updated_at))
    row = catalog.row_at("2026/笔记.md")
    assert row is not None
    assert (row.note_key, row.stat, row.metadata) == (key, STAT, said)
    assert row.problems == problems
    assert row.is_admitted and row.is_pending
    assert catalog.rows_by_key([key])[key].chunk_hashes == {"h0", "h1"}


def test_writing_a_note_again_replaces_its_chunks_and_keeps_its_digests(catalog):
    (key,) = write(catalog, record("a.md"))
    with catalog.transaction():
        catalog.set_digests("lexical", {key: "old"})
    write(catalog, record("a.md", key=key, chunks=(ChunkRef("metadata", 0, "h9"),)))
    row = catalog.rows_by_key([key])[key]
    assert (row.chunk_hashes, row.lexical_digest) == ({"h9"}, "old")


def test_a_key_is_never_used_twice(catalog):
    (first,) = write(catalog, record("a.md"))
    with catalog.transaction():
        catalog.delete([first])
    assert write(catalog, record("a.md")) > [first]


def test_two_notes_with_one_id_are_both_in_conflict_and_neither_is_admitted(catalog):
    write(catalog, record("a.md"), record("b.md"), record("c.md", "other"))
    assert [row.in_conflict for row in catalog.rows()] == [True, True, False]
    counts = catalog.counts()
    assert (counts.notes, counts.admitted, counts.conflicts, counts.with_id) == (3, 1, 2, 3)


def test_ids_are_compared_case_sensitively(catalog):
    write(catalog, record("a.md", "ID"), record("b.md", "id"))
    assert not any(row.in_conflict for row in catalog.rows())


def test_counts_tell_pending_deprecated_and_unreadable_notes(catalog):
    keys = write(
        catalog,
        record("a.md", "a"),
        record("b.md", "b", status=Status.DEPRECATED),
        record("c.md", "c", is_readable=False),
        record("d.md", None),
        record("e.md", "e", description=""),
    )
    with catalog.transaction():
        catalog.set_digests("dense", {keys[0]: "digest of a.md"})
    counts = catalog.counts()
    assert (counts.deprecated, counts.unreadable, counts.pending, counts.admitted) == (1, 1, 3, 2)


def test_the_count_of_admitted_notes_follows_every_commit_of_any_process(catalog, tmp_path):
    reader = Catalog(tmp_path / "catalog.sqlite", writable=False)
    assert reader.admitted_count() == 0
    write(catalog, record("a.md"))
    assert (reader.admitted_count(), catalog.admitted_count()) == (1, 1)
    write(catalog, record("b.md"))  # the same id
    assert (reader.admitted_count(), catalog.admitted_count()) == (0, 0)
    reader.close()


def test_known_in_a_scope_is_what_lies_at_or_under_its_paths(catalog):
    names = ("2026/05.md", "2026/05/a.md", "2026/05/b/c.md", "2026/055/x.md", "2026/06/y.md")
    write(catalog, *(record(path, path) for path in names))
    assert set(catalog.known(["2026/05"])) == {"2026/05/a.md", "2026/05/b/c.md"}
    assert set(catalog.known(["2026/05/a.md", "2026/06"])) == {"2026/05/a.md", "2026/06/y.md"}
    assert set(catalog.known([""])) == set(catalog.known()) == set(names)


def test_a_name_with_a_percent_sign_or_quote_is_only_itself(catalog):
    names = ("100%/a.md", "100x/b.md", "it's/c.md")
    write(catalog, *(record(path, path) for path in names))
    assert set(catalog.known(["100%"])) == {"100%/a.md"}
    assert set(catalog.known(["it's"])) == {"it's/c.md"}


def test_more_keys_than_a_query_takes_are_read_all_the_same(catalog):
    keys = write(catalog, *(record(f"{n}.md", f"n{n}") for n in range(1_203)))
    assert len(catalog.rows_by_key(keys)) == 1_203


def test_marking_a_note_unknown_keeps_what_was_known_of_it(catalog):
    (key,) = write(catalog, record("a.md"))
    with catalog.transaction():
        catalog.mark_unknown(key, FileStat(1, 2, 3, 4), (Problem(Code.UNREADABLE, "permission denied"),))
    row = catalog.row_at("a.md")
    assert row is not None
    assert (row.id, row.description, row.is_readable, row.stat.size) == ("a", "about", False, 1)


def test_a_failed_transaction_leaves_nothing_behind_and_the_next_one_works(catalog):
    class StopError(Exception):
        pass

    with pytest.raises(StopError), catalog.transaction():
        catalog.write([record("a.md")])
        raise StopError
    assert catalog.rows() == []
    write(catalog, record("b.md"))
    assert [row.path for row in catalog.rows()] == ["b.md"]


def test_a_path_is_on_record_once(catalog):
    write(catalog, record("a.md"))
    with pytest.raises(StoreError):
        write(catalog, record("a.md"))
    write(catalog, record("b.md"))


def test_facts_are_stored_replaced_and_forgotten(catalog):
    with catalog.transaction():
        catalog.set_meta("x", "1")
        catalog.set_meta("x", "2")
    assert catalog.meta("x") == "2"
    catalog.set_meta("x", None)
    assert catalog.meta("x") is None


def test_the_journal_keeps_its_last_entries_in_order(catalog):
    for n in range(7):
        catalog.add_entry(f"entry {n}", keep=3)
    assert catalog.entries(10) == ["entry 4", "entry 5", "entry 6"]
    assert catalog.entries(1) == ["entry 6"]


def test_a_damaged_page_is_found_and_never_raises_another_librarys_error(catalog, tmp_path):
    write(catalog, *(record(f"{n}.md", f"n{n}", description="d" * 500) for n in range(200)))
    assert catalog.is_sound()
    catalog.close()
    file = tmp_path / "catalog.sqlite"
    data = bytearray(file.read_bytes())
    assert not (tmp_path / "catalog.sqlite-wal").exists()
    data[8_192:40_960] = b"\xa5" * 32_768
    file.write_bytes(data)
    damaged = Catalog(file, writable=True)
    assert not damaged.is_sound()
    with pytest.raises(StoreError, match=r"catalog\.sqlite"):
        damaged.rows()
    damaged.close()


@pytest.mark.parametrize(
    ("before", "after"), [(b"about a", b"about b"), (b"h0h0h0", b"h0h0h1"), (b"kept fact", b"kept fAct")]
)
def test_a_changed_letter_is_damage(catalog, tmp_path, before, after):
    """SQLite has no sums: it finds nothing wrong with a row whose text is another."""
    write(catalog, record("a.md", "a", description="about a", chunks=[ChunkRef("body", 0, "h0h0h0")]))
    with catalog.transaction():
        catalog.set_meta("fact", "kept fact")
    assert catalog.is_sound()
    catalog.close()
    file = tmp_path / "catalog.sqlite"
    data = file.read_bytes()
    assert before in data
    file.write_bytes(data.replace(before, after))
    damaged = Catalog(file, writable=True)
    assert not damaged.is_sound()
    damaged.close()


def test_a_row_or_a_fact_that_was_changed_is_not_handed_out(catalog, tmp_path):
    write(catalog, record("a.md", "a", description="about a"))
    with catalog.transaction():
        catalog.set_meta("fact", "kept fact")
    catalog.close()
    file = tmp_path / "catalog.sqlite"
    file.write_bytes(file.read_bytes().replace(b"about a", b"about b").replace(b"kept fact", b"kept fAct"))
    damaged = Catalog(file, writable=True)
    for ask in (damaged.rows, lambda: damaged.rows_by_key([1]), lambda: damaged.meta("fact")):
        with pytest.raises(StoreError, match="not as it was written") as failed:
            ask()
        assert failed.value.store == "catalog"
    damaged.close()


def test_every_way_of_changing_a_row_keeps_its_seal(catalog):
    (key,) = write(catalog, record("a.md", "a"))
    with catalog.transaction():
        catalog.set_digests("lexical", {key: "d"})
        catalog.touch({key: FileStat(1, 2, 3, 4)})
        catalog.mark_unknown(key, FileStat(1, 2, 3, 5), [])
        catalog.forget_digests("lexical")
    assert catalog.is_sound() and len(catalog.rows()) == 1


def test_a_missing_table_is_damage(tmp_path):
    Catalog(tmp_path / "c.sqlite", writable=True).close()
    with sqlite3.connect(tmp_path / "c.sqlite") as other:
        other.execute("DROP TABLE chunks")
    other.close()
    damaged = Catalog(tmp_path / "c.sqlite", writable=True)
    assert not damaged.is_sound()
    damaged.close()


# --- threads and processes


def test_a_reader_sees_each_commit_and_nothing_before_it(catalog, tmp_path):
    reader = Catalog(tmp_path / "catalog.sqlite", writable=False)
    state = reader.state_of_data
    with catalog.transaction():
        catalog.write([record("a.md")])
        assert reader.rows() == []
    assert [row.path for row in reader.rows()] == ["a.md"]
    assert reader.state_of_data != state
    reader.close()


def test_threads_share_one_connection(catalog):
    """A worker serves each request in a thread of its own: one connection each would use up the files it may open."""
    write(catalog, record("a.md"))
    before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
    found = []
    for _ in range(20):
        thread = threading.Thread(target=lambda: found.append(len(catalog.rows())))
        thread.start()
        thread.join()
    assert found == [1] * 20
    if before:
        assert len(list(Path("/proc/self/fd").iterdir())) <= before + 1


def test_a_catalog_that_was_deleted_or_replaced_knows_it(catalog, tmp_path):
    assert not catalog.is_detached
    (tmp_path / "catalog.sqlite").unlink()
    assert catalog.is_detached
    Catalog(tmp_path / "catalog.sqlite", writable=True).close()
    assert catalog.is_detached
