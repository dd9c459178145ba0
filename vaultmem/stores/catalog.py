"""The catalog: a SQLite ledger of what the stores were made from.

One row per note, keyed by path and by an integer `note_key` that is never used twice. Ids may collide, keys do not,
so a conflict or a move touches no store. Two digests per row say which version each store holds: a store's row
counts only when its digest is the one on record here.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaultmem.errors import StoreError
from vaultmem.files.snapshot import FileStat
from vaultmem.notes.problems import Problem
from vaultmem.stores.catalog_rows import (
    COLUMNS,
    KNOWN_COLUMNS,
    NOTES_TABLE,
    SEALED_NOTE,
    STAT_COLUMNS,
    WRITTEN_COLUMNS,
    Known,
    NoteRecord,
    NoteRow,
    problems_text,
    read_known,
    read_row,
    stat_values,
    written_values,
)
from vaultmem.stores.folders import in_parts
from vaultmem.stores.sqlite_file import (
    JOURNAL_PAGES,
    PAGE_BYTES,
    REPAIR_ADVICE,
    StillConnection,
    as_store_error,
    journal_of,
    open_file,
)

CATALOG_SCHEMA = 4
KEYS_PER_QUERY = 500  # SQLite's oldest limit on variables is 999

_PENDING = "id IS NOT NULL AND dense_digest IS NOT digest"
_UNINDEXED = "id IS NOT NULL AND lexical_digest IS NOT digest"

_TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, seal INTEGER) WITHOUT ROWID;
{NOTES_TABLE}
CREATE INDEX notes_by_id ON notes (id);
CREATE INDEX notes_to_embed ON notes (mtime_ns) WHERE {_PENDING};
CREATE INDEX notes_to_index ON notes (note_key) WHERE {_UNINDEXED};
CREATE TABLE chunks (
  note_key INTEGER NOT NULL, part TEXT NOT NULL, ordinal INTEGER NOT NULL, text_hash TEXT NOT NULL,
  seal INTEGER, PRIMARY KEY (note_key, part, ordinal)
) WITHOUT ROWID;
CREATE TABLE journal (number INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL);
"""

_SINGLE_IDS = "SELECT id FROM notes WHERE id IS NOT NULL GROUP BY id HAVING count(*) = 1"
_SHARED_IDS = "SELECT id FROM notes WHERE id IS NOT NULL GROUP BY id HAVING count(*) > 1"
_IN_CONFLICT = "(id IS NOT NULL AND (SELECT count(*) FROM notes AS other WHERE other.id = notes.id) > 1)"
_SELECT = f"SELECT {COLUMNS}, {_IN_CONFLICT}, {SEALED_NOTE} IS seal FROM notes"
_SEALED = {
    "notes": SEALED_NOTE,
    "chunks": "row_seal(note_key, part, ordinal, text_hash)",
    "meta": "row_seal(key, value)",
}
"""The seal of each table's rows as it should be, in SQL."""
_SET_STAT = ", ".join(f"{column} = ?" for column in STAT_COLUMNS)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many notes there are of each kind."""

    notes: int
    admitted: int
    deprecated: int
    conflicts: int
    with_id: int
    pending: int
    unreadable: int


class Catalog:
    """The ledger at `path`; made when missing if `writable`. Threads may share it, but one at a time.

    Raises:
        StoreError: the file is torn, foreign, of another schema, or missing and not `writable`.
    """

    def __init__(self, path: Path, *, writable: bool) -> None:
        self._path = path
        self._admitted: tuple[tuple[int, int], int] | None = None
        self._connection = open_file(path, schema=CATALOG_SCHEMA, tables=_TABLES, writable=writable)
        try:
            with as_store_error(path):
                self._opened_as = self._file_state()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file; the catalog cannot be used afterwards."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside is seen by others at once, or not at all. Not re-entrant."""
        with as_store_error(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):  # SQLite may have rolled back by itself
                    self._connection.execute("ROLLBACK")
                raise

    @property
    def is_detached(self) -> bool:
        """The file was deleted or replaced under this process, or goes on without it."""
        try:
            return self._file_state() != self._opened_as
        except OSError:
            return True

    def _file_state(self) -> tuple[int, ...]:
        """What must stay the same; of a file that is read as it stood, that nobody has written to it since."""
        status = self._path.stat()
        if not isinstance(self._connection, StillConnection):
            return (status.st_ino,)
        journal = journal_of(self._path)
        journalled = journal.stat().st_size if journal.exists() else 0
        return status.st_ino, status.st_mtime_ns, status.st_size, journalled

    @property
    def state_of_data(self) -> tuple[int, int]:
        """Changes whenever this or another process has committed: a key for what was derived from the rows."""
        return self._number("PRAGMA data_version"), self._connection.total_changes

    def take_in_journal(self) -> None:
        """Let the file have what SQLite keeps beside it, once that is much. Waits for no reader."""
        with as_store_error(self._path):
            journal = journal_of(self._path)
            if journal.exists() and journal.stat().st_size > JOURNAL_PAGES * PAGE_BYTES:
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def is_sound(self) -> bool:
        """SQLite finds nothing wrong with the file, its indexes included, and every row is as it was written."""
        try:
            self._fetch("SELECT * FROM journal")
            broken = [
                f"SELECT count(*) FROM {table} WHERE {seal} IS NOT seal" for table, seal in _SEALED.items()
            ]
            return not any(self._number(sql) for sql in broken) and self._fetch("PRAGMA integrity_check") == [
                ("ok",)
            ]
        except StoreError:
            return False

    def _fetch(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with as_store_error(self._path):
            return self._connection.execute(sql, values).fetchall()

    def _number(self, sql: str) -> int:
        return int(self._fetch(sql)[0][0])

    # --- small facts

    def meta(self, key: str) -> str | None:
        """The fact stored under `key`."""
        found = self._fetch(f"SELECT value, {_SEALED['meta']} IS seal FROM meta WHERE key = ?", (key,))
        if found and not found[0][1]:
            raise StoreError(
                f"{self._path}: {key} is not as it was written", store="catalog", advice=REPAIR_ADVICE
            )
        return found[0][0] if found else None

    def set_meta(self, key: str, value: str | None) -> None:
        """Store or, with None, forget a fact."""
        if value is None:
            self._fetch("DELETE FROM meta WHERE key = ?", (key,))
        else:
            self._fetch("INSERT OR REPLACE INTO meta VALUES (?1, ?2, row_seal(?1, ?2))", (key, value))

    def add_entry(self, entry: str, keep: int) -> None:
        """Append to the journal, which holds the last `keep` entries."""
        with as_store_error(self._path):
            number = self._connection.execute("INSERT INTO journal (entry) VALUES (?)", (entry,)).lastrowid
            self._connection.execute("DELETE FROM journal WHERE number <= ?", ((number or 0) - keep,))

    def entries(self, limit: int) -> list[str]:
        """The last `limit` entries of the journal, newest last."""
        found = self._fetch("SELECT entry FROM journal ORDER BY number DESC LIMIT ?", (limit,))
        return [entry for (entry,) in found][::-1]

    # --- notes

    def known(self, scope: Sequence[str] | None = None) -> dict[str, Known]:
        """Path to facts, of every note or of those at or under the paths in `scope`."""
        sql = f"SELECT {KNOWN_COLUMNS} FROM notes"
        is_whole = scope is None or "" in scope
        parts = [self._fetch(sql)] if is_whole else [self._under(sql, path) for path in scope or ()]
        found = (read_known(values) for values in (values for part in parts for values in part))
        return {known.path: known for known in found}

    def _under(self, sql: str, path: str) -> list[tuple[Any, ...]]:
        return self._fetch(f"{sql} WHERE path = ? OR (path > ? AND path < ?)", (path, path + "/", path + "0"))

    def rows(self) -> list[NoteRow]:
        """Every note on record, by path."""
        return self._rows("ORDER BY path")

    def _rows(self, condition: str, *values: object) -> list[NoteRow]:
        with as_store_error(self._path):
            return [read_row(row) for row in self._connection.execute(f"{_SELECT} {condition}", values)]

    def row_at(self, path: str) -> NoteRow | None:
        """The note on record at `path`."""
        return next(iter(self._rows("WHERE path = ?", path)), None)

    def rows_with_id(self, note_id: str) -> list[NoteRow]:
        """The notes on record that carry this id: more than one is a conflict."""
        return self._rows("WHERE id = ? ORDER BY path", note_id)

    def rows_by_key(self, keys: Collection[int]) -> dict[int, NoteRow]:
        """Notes on record; keys that are not there are left out. Those that wait for vectors have chunk hashes."""
        found: dict[int, NoteRow] = {}
        for part in in_parts(list(keys), KEYS_PER_QUERY):
            among = f"WHERE note_key IN ({','.join('?' * len(part))})"
            hashes: dict[int, set[str]] = {}
            pending = (
                f"SELECT note_key, text_hash FROM chunks JOIN notes USING (note_key) {among} AND {_PENDING}"
            )
            for key, text_hash in self._fetch(pending, part):
                hashes.setdefault(key, set()).add(text_hash)
            with as_store_error(self._path):
                for values in self._connection.execute(f"{_SELECT} {among}", part):
                    found[values[0]] = read_row(values, frozenset(hashes.get(values[0], ())))
        return found

    def to_embed(self, limit: int) -> list[NoteRow]:
        """Notes whose newest text has no vectors yet, newest file first."""
        return self._rows(f"WHERE {_PENDING} ORDER BY mtime_ns DESC LIMIT ?", limit)

    # --- numbers, and what the stores should hold

    def counts(self) -> Counts:
        """How many notes of each kind there are."""
        ((notes, deprecated, conflicts, with_id, pending, unreadable),) = self._fetch(
            f"SELECT count(*), coalesce(sum(status = 'deprecated'), 0), coalesce(sum(id IN ({_SHARED_IDS})), 0),"
            f" count(id), coalesce(sum({_PENDING}), 0), coalesce(sum(NOT is_readable), 0) FROM notes"
        )
        return Counts(notes, self.admitted_count(), deprecated, conflicts, with_id, pending, unreadable)

    def admitted_count(self) -> int:
        """How many notes may be hinted; remembered until something is committed."""
        state = self.state_of_data
        if self._admitted is None or self._admitted[0] != state:
            sql = f"SELECT count(*) FROM notes WHERE description <> '' AND status = 'active' AND id IN ({_SINGLE_IDS})"
            self._admitted = state, self._number(sql)
        return self._admitted[1]

    def pending_count(self) -> int:
        """How many notes wait for vectors; quick, whatever the size of the vault."""
        return self._number(f"SELECT count(*) FROM notes INDEXED BY notes_to_embed WHERE {_PENDING}")

    def pending_keys(self) -> set[int]:
        """Notes whose newest text has no vectors yet."""
        return {key for (key,) in self._fetch(f"SELECT note_key FROM notes WHERE {_PENDING}")}

    def unindexed_count(self) -> int:
        """How many notes that can be read are not in the lexical store as they are now."""
        return self._number(
            f"SELECT count(*) FROM notes INDEXED BY notes_to_index WHERE {_UNINDEXED} AND is_readable"
        )

    def chunk_counts(self) -> dict[int, int]:
        """How many chunks each note is made of, metadata included."""
        return dict(self._fetch("SELECT note_key, count(*) FROM chunks GROUP BY note_key"))

    def chunk_count(self) -> int:
        """How many texts of notes get a vector; one that several notes have counts for each."""
        return self._number("SELECT count(*) FROM chunks")

    def chunk_hashes(self) -> frozenset[str]:
        """The hashes of all texts that get a vector."""
        return frozenset(text_hash for (text_hash,) in self._fetch("SELECT DISTINCT text_hash FROM chunks"))

    def embedded_chunks(self) -> int:
        """How many texts, metadata included, have a vector in the dense store by this ledger."""
        return self._number(
            "SELECT count(*) FROM chunks JOIN notes USING (note_key)"
            " WHERE id IS NOT NULL AND dense_digest = digest"
        )

    def versions(self, store: str) -> dict[int, str]:
        """note_key to the digest on record for `store` (lexical or dense), of the notes that it holds."""
        column = _digest_column(store)
        return dict(
            self._fetch(f"SELECT note_key, {column} FROM notes WHERE {column} IS NOT NULL AND id IS NOT NULL")
        )

    def held_count(self, store: str) -> int:
        """How many notes `store` (lexical or dense) should hold."""
        column = _digest_column(store)
        return self._number(f"SELECT count(*) FROM notes WHERE {column} IS NOT NULL AND id IS NOT NULL")

    # --- writing; the caller holds the writer's lock and a transaction

    def write(self, records: Iterable[NoteRecord]) -> list[int]:
        """Make or replace rows; the note_key of each record in order. Digests of the stores stay as they are."""
        keys = []
        for record in records:
            key = self._write_row(record.note_key, written_values(record))
            self._connection.execute("DELETE FROM chunks WHERE note_key = ?", (key,))
            chunks = [(key, chunk.part, chunk.ordinal, chunk.text_hash) for chunk in record.chunks]
            self._connection.executemany(
                "INSERT INTO chunks VALUES (?1, ?2, ?3, ?4, row_seal(?1, ?2, ?3, ?4))", chunks
            )
            keys.append(key)
        return keys

    def _write_row(self, note_key: int | None, values: tuple[object, ...]) -> int:
        if note_key is None:
            marks = ", ".join("?" * len(WRITTEN_COLUMNS))
            sql = f"INSERT INTO notes ({', '.join(WRITTEN_COLUMNS)}) VALUES ({marks})"
            key = self._connection.execute(sql, values).lastrowid
            assert key is not None
            return key
        assignments = ", ".join(f"{column} = ?" for column in WRITTEN_COLUMNS)
        self._connection.execute(f"UPDATE notes SET {assignments} WHERE note_key = ?", (*values, note_key))
        return note_key

    def touch(self, stats: Mapping[int, FileStat]) -> None:
        """Record new stat values of files whose bytes are the same."""
        rows = [(*stat_values(stat), key) for key, stat in stats.items()]
        self._connection.executemany(f"UPDATE notes SET {_SET_STAT} WHERE note_key = ?", rows)

    def mark_unknown(self, note_key: int, stat: FileStat, problems: Sequence[Problem]) -> None:
        """The note cannot be read at the moment: keep its last good facts, record why."""
        self._connection.execute(
            f"UPDATE notes SET {_SET_STAT}, problems = ?, is_readable = 0 WHERE note_key = ?",
            (*stat_values(stat), problems_text(problems), note_key),
        )

    def delete(self, note_keys: Collection[int]) -> None:
        """Forget these notes."""
        rows = [(key,) for key in note_keys]
        self._connection.executemany("DELETE FROM notes WHERE note_key = ?", rows)
        self._connection.executemany("DELETE FROM chunks WHERE note_key = ?", rows)

    def set_digests(self, store: str, versions: Mapping[int, str | None]) -> None:
        """Record which version `store` (lexical or dense) holds of these notes."""
        column = _digest_column(store)
        rows = [(digest, key) for key, digest in versions.items()]
        self._connection.executemany(f"UPDATE notes SET {column} = ? WHERE note_key = ?", rows)

    def forget_digests(self, store: str) -> None:
        """Record that `store` holds nothing."""
        column = _digest_column(store)
        self._connection.execute(f"UPDATE notes SET {column} = NULL WHERE {column} IS NOT NULL")


def _digest_column(store: str) -> str:
    return {"lexical": "lexical_digest", "dense": "dense_digest"}[store]
