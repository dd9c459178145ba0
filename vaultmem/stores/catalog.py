"""The catalog: a SQLite ledger of what the stores were made from.

One row per note, keyed by path and by an integer `note_key` that is never used twice. Ids may collide, keys do not,
so a conflict or a move touches no store. Two digests per row say which version each store holds: a store's row
counts only when its digest is the one on record here.

SQLite's exceptions stay inside: a file that cannot be used raises StoreError.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaultmem.errors import StoreError
from vaultmem.files.snapshot import FileStat
from vaultmem.notes.parse import Status
from vaultmem.notes.problems import Code, Problem
from vaultmem.stores.folders import advice_for

SCHEMA = 2
BUSY_TIMEOUT_MS = 5_000
_ADVICE = "Run `vaultmem doctor --repair`."
KEYS_PER_QUERY = 500  # SQLite's oldest limit on variables is 999

_PENDING = "id IS NOT NULL AND dense_digest IS NOT digest"
_UNINDEXED = "id IS NOT NULL AND lexical_digest IS NOT digest"

_TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (
  note_key INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  digest TEXT NOT NULL,
  id TEXT, name TEXT NOT NULL, description TEXT NOT NULL, tags TEXT NOT NULL, status TEXT NOT NULL,
  created_at TEXT, updated_at TEXT,
  problems TEXT NOT NULL, is_known INTEGER NOT NULL,
  lexical_digest TEXT, dense_digest TEXT
);
CREATE INDEX notes_by_id ON notes (id);
CREATE INDEX notes_to_embed ON notes (mtime_ns) WHERE {_PENDING};
CREATE INDEX notes_to_index ON notes (note_key) WHERE {_UNINDEXED};
CREATE TABLE chunks (
  note_key INTEGER NOT NULL, part TEXT NOT NULL, ordinal INTEGER NOT NULL, text_hash TEXT NOT NULL,
  PRIMARY KEY (note_key, part, ordinal)
) WITHOUT ROWID;
CREATE TABLE journal (number INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL);
PRAGMA user_version = {SCHEMA};
"""

_COLUMNS = (
    "note_key, path, size, mtime_ns, ctime_ns, inode, digest, id, name, description, tags, status, created_at,"
    " updated_at, problems, is_known, lexical_digest, dense_digest"
)
_SINGLE_IDS = "SELECT id FROM notes WHERE id IS NOT NULL GROUP BY id HAVING count(*) = 1"
_SHARED_IDS = "SELECT id FROM notes WHERE id IS NOT NULL GROUP BY id HAVING count(*) > 1"
_IN_CONFLICT = "(id IS NOT NULL AND (SELECT count(*) FROM notes AS other WHERE other.id = notes.id) > 1)"
_SELECT = f"SELECT {_COLUMNS}, {_IN_CONFLICT} FROM notes"


@dataclass(frozen=True, slots=True)
class Known:
    """The few facts about a note on record that a scan is compared with."""

    note_key: int
    path: str
    stat: FileStat
    digest: str
    id: str | None
    is_known: bool
    lexical_digest: str | None

    @property
    def needs_indexing(self) -> bool:
        """The lexical store does not hold the digest on record."""
        return self.id is not None and self.lexical_digest != self.digest

    @property
    def is_settled(self) -> bool:
        """Its bytes were read, and the lexical store holds them: equal stat values mean there is nothing to do."""
        return self.is_known and not self.needs_indexing


@dataclass(frozen=True, slots=True)
class NoteRow:
    """One note on record. `chunk_hashes`, of its newest text, are only filled in while its vectors are pending."""

    note_key: int
    path: str
    stat: FileStat
    digest: str
    id: str | None
    name: str
    description: str
    tags: tuple[str, ...]
    status: Status
    created_at: str | None
    updated_at: str | None
    problems: tuple[Problem, ...]
    is_known: bool
    lexical_digest: str | None
    dense_digest: str | None
    in_conflict: bool
    chunk_hashes: frozenset[str] = frozenset()

    @property
    def is_indexed(self) -> bool:
        """It has a usable id that no other note has."""
        return self.id is not None and not self.in_conflict

    @property
    def is_admitted(self) -> bool:
        """It may be hinted."""
        return self.is_indexed and self.description != "" and self.status is Status.ACTIVE

    @property
    def is_pending(self) -> bool:
        """Its newest text has no vectors yet."""
        return self.id is not None and self.dense_digest != self.digest


@dataclass(frozen=True, slots=True)
class ChunkRef:
    """Which text a note is made of: `part` is metadata or body."""

    part: str
    ordinal: int
    text_hash: str


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """What is written for one note; `note_key` None makes a new row."""

    note_key: int | None
    path: str
    stat: FileStat
    digest: str
    id: str | None
    name: str
    description: str
    tags: tuple[str, ...]
    status: Status
    created_at: str | None
    updated_at: str | None
    problems: tuple[Problem, ...]
    is_known: bool
    chunks: tuple[ChunkRef, ...]


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
        with _as_store_error(path):
            self._connection = _connect(path, writable=writable)
            try:
                self._prepare(writable)
                self._inode = path.stat().st_ino
            except BaseException:
                self.close()
                raise

    def _prepare(self, writable: bool) -> None:
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if version == 0 and tables == 0 and writable:
            self._connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
        elif version != SCHEMA:
            raise StoreError(f"{self._path}: made by another version (schema {version}, expected {SCHEMA})")

    def close(self) -> None:
        """Close the file; the catalog cannot be used afterwards."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside is seen by others at once, or not at all. Not re-entrant."""
        with _as_store_error(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):  # SQLite may have rolled back by itself
                    self._connection.execute("ROLLBACK")
                raise

    # --- small facts

    def meta(self, key: str) -> str | None:
        """The fact stored under `key`."""
        with _as_store_error(self._path):
            row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def set_meta(self, key: str, value: str | None) -> None:
        """Store or, with None, forget a fact."""
        with _as_store_error(self._path):
            if value is None:
                self._connection.execute("DELETE FROM meta WHERE key = ?", (key,))
            else:
                self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def add_entry(self, entry: str, keep: int) -> None:
        """Append to the journal, which holds the last `keep` entries."""
        with _as_store_error(self._path):
            number = self._connection.execute("INSERT INTO journal (entry) VALUES (?)", (entry,)).lastrowid
            self._connection.execute("DELETE FROM journal WHERE number <= ?", ((number or 0) - keep,))

    def entries(self, limit: int) -> list[str]:
        """The last `limit` entries of the journal, newest last."""
        sql = "SELECT entry FROM journal ORDER BY number DESC LIMIT ?"
        with _as_store_error(self._path):
            return [row[0] for row in self._connection.execute(sql, (limit,))][::-1]

    @property
    def is_detached(self) -> bool:
        """The file was deleted or replaced under this process."""
        try:
            return self._path.stat().st_ino != self._inode
        except OSError:
            return True

    @property
    def state_of_data(self) -> tuple[int, int]:
        """Changes whenever this or another process has committed: a key for what was derived from the rows."""
        with _as_store_error(self._path):
            connection = self._connection
            return connection.execute("PRAGMA data_version").fetchone()[0], connection.total_changes

    # --- reading

    def known(self, scope: Sequence[str] | None = None) -> dict[str, Known]:
        """Path to facts, of every note or of those at or under the paths in `scope`."""
        sql = "SELECT note_key, path, size, mtime_ns, ctime_ns, inode, digest, id, is_known, lexical_digest FROM notes"
        with _as_store_error(self._path):
            if scope is None:
                rows = self._connection.execute(sql).fetchall()
            else:
                rows = [row for path in scope for row in self._under(sql, path)]
        return {
            r[1]: Known(r[0], r[1], FileStat(r[2], r[3], r[4], r[5]), r[6], r[7], bool(r[8]), r[9])
            for r in rows
        }

    def _under(self, sql: str, path: str) -> list[tuple[Any, ...]]:
        if path == "":
            return self._connection.execute(sql).fetchall()
        condition = " WHERE path = ? OR (path > ? AND path < ?)"
        return self._connection.execute(sql + condition, (path, path + "/", path + "0")).fetchall()

    def rows(self) -> list[NoteRow]:
        """Every note on record, by path."""
        return self._rows_where("TRUE")

    def _rows_where(self, condition: str, *values: object) -> list[NoteRow]:
        with _as_store_error(self._path):
            found = self._connection.execute(f"{_SELECT} WHERE {condition} ORDER BY path", values)
            return [_row(row) for row in found]

    def row_at(self, path: str) -> NoteRow | None:
        """The note on record at `path`."""
        return next(iter(self._rows_where("path = ?", path)), None)

    def rows_with_id(self, note_id: str) -> list[NoteRow]:
        """The notes on record that carry this id: more than one is a conflict."""
        return self._rows_where("id = ?", note_id)

    def rows_by_key(self, keys: Collection[int]) -> dict[int, NoteRow]:
        """Notes on record; keys that are not there are left out. Those that wait for vectors have chunk hashes."""
        found: dict[int, NoteRow] = {}
        with _as_store_error(self._path):
            for part in _batches(list(keys)):
                marks = ",".join("?" * len(part))
                hashes: dict[int, set[str]] = {}
                sql = (
                    "SELECT note_key, text_hash FROM chunks JOIN notes USING (note_key)"
                    f" WHERE note_key IN ({marks}) AND {_PENDING}"
                )
                for key, text_hash in self._connection.execute(sql, part):
                    hashes.setdefault(key, set()).add(text_hash)
                for values in self._connection.execute(f"{_SELECT} WHERE note_key IN ({marks})", part):
                    found[values[0]] = _row(values, frozenset(hashes.get(values[0], ())))
        return found

    def chunk_counts(self) -> dict[int, int]:
        """How many chunks each note is made of, metadata included."""
        with _as_store_error(self._path):
            return dict(self._connection.execute("SELECT note_key, count(*) FROM chunks GROUP BY note_key"))

    def pending_count(self) -> int:
        """How many notes wait for vectors; quick, whatever the size of the vault."""
        sql = f"SELECT count(*) FROM notes INDEXED BY notes_to_embed WHERE {_PENDING}"
        with _as_store_error(self._path):
            return int(self._connection.execute(sql).fetchone()[0])

    def embedded_chunks(self) -> int:
        """How many texts, metadata included, have a vector in the dense store by this ledger."""
        sql = (
            "SELECT count(*) FROM chunks JOIN notes USING (note_key)"
            " WHERE id IS NOT NULL AND dense_digest = digest"
        )
        with _as_store_error(self._path):
            return int(self._connection.execute(sql).fetchone()[0])

    def admitted_count(self) -> int:
        """How many notes may be hinted; remembered until something is committed."""
        state = self.state_of_data
        kept = self._admitted
        if kept is None or kept[0] != state:
            sql = f"SELECT count(*) FROM notes WHERE description <> '' AND status = 'active' AND id IN ({_SINGLE_IDS})"
            with _as_store_error(self._path):
                kept = state, self._connection.execute(sql).fetchone()[0]
            self._admitted = kept
        return kept[1]

    def counts(self) -> Counts:
        """How many notes of each kind there are."""
        sql = (
            f"SELECT count(*), coalesce(sum(status = 'deprecated'), 0), coalesce(sum(id IN ({_SHARED_IDS})), 0),"
            f" count(id), coalesce(sum({_PENDING}), 0),"
            " coalesce(sum(NOT is_known), 0) FROM notes"
        )
        with _as_store_error(self._path):
            notes, deprecated, conflicts, with_id, pending, unreadable = self._connection.execute(
                sql
            ).fetchone()
        return Counts(notes, self.admitted_count(), deprecated, conflicts, with_id, pending, unreadable)

    def versions(self, store: str) -> dict[int, str]:
        """note_key to the digest on record for `store` (lexical or dense), of the notes that it holds."""
        column = _digest_column(store)
        sql = f"SELECT note_key, {column} FROM notes WHERE {column} IS NOT NULL AND id IS NOT NULL"
        with _as_store_error(self._path):
            return dict(self._connection.execute(sql))

    def to_embed(self, limit: int) -> list[NoteRow]:
        """Notes whose newest text has no vectors yet, newest file first."""
        sql = f"{_SELECT} WHERE {_PENDING} ORDER BY mtime_ns DESC LIMIT ?"
        with _as_store_error(self._path):
            return [_row(values) for values in self._connection.execute(sql, (limit,))]

    def pending_keys(self) -> set[int]:
        """Notes whose newest text has no vectors yet."""
        with _as_store_error(self._path):
            return {
                key for (key,) in self._connection.execute(f"SELECT note_key FROM notes WHERE {_PENDING}")
            }

    def held_count(self, store: str) -> int:
        """How many notes `store` (lexical or dense) should hold."""
        sql = f"SELECT count(*) FROM notes WHERE {_digest_column(store)} IS NOT NULL AND id IS NOT NULL"
        with _as_store_error(self._path):
            return int(self._connection.execute(sql).fetchone()[0])

    def unindexed_count(self) -> int:
        """How many notes that can be read are not in the lexical store as they are now."""
        sql = f"SELECT count(*) FROM notes WHERE {_UNINDEXED} AND is_known"
        with _as_store_error(self._path):
            return int(self._connection.execute(sql).fetchone()[0])

    def is_sound(self) -> bool:
        """SQLite finds nothing wrong with the file, and every row can be read."""
        try:
            with _as_store_error(self._path):
                for table in ("meta", "chunks", "journal"):
                    self._connection.execute(f"SELECT * FROM {table}").fetchall()
                self.rows()
                return bool(self._connection.execute("PRAGMA quick_check").fetchone()[0] == "ok")
        except StoreError:
            return False

    # --- writing; the caller holds the writer's lock and a transaction

    def write(self, records: Iterable[NoteRecord]) -> list[int]:
        """Make or replace rows; the note_key of each record in order. Digests of the stores stay as they are."""
        keys = []
        for record in records:
            values = (
                record.path,
                record.stat.size,
                record.stat.mtime_ns,
                record.stat.ctime_ns,
                record.stat.inode,
                record.digest,
                record.id,
                record.name,
                record.description,
                json.dumps(record.tags, ensure_ascii=False),
                record.status.value,
                record.created_at,
                record.updated_at,
                _dump_problems(record.problems),
                int(record.is_known),
            )
            key = self._write_row(record.note_key, values)
            self._connection.execute("DELETE FROM chunks WHERE note_key = ?", (key,))
            chunks = [(key, chunk.part, chunk.ordinal, chunk.text_hash) for chunk in record.chunks]
            self._connection.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?)", chunks)
            keys.append(key)
        return keys

    def _write_row(self, note_key: int | None, values: tuple[object, ...]) -> int:
        columns = _COLUMNS.split(", ")[1:16]
        if note_key is None:
            marks = ", ".join("?" * len(columns))
            sql = f"INSERT INTO notes ({', '.join(columns)}) VALUES ({marks})"
            key = self._connection.execute(sql, values).lastrowid
            assert key is not None
            return key
        assignments = ", ".join(f"{column} = ?" for column in columns)
        self._connection.execute(f"UPDATE notes SET {assignments} WHERE note_key = ?", (*values, note_key))
        return note_key

    def touch(self, stats: Mapping[int, FileStat]) -> None:
        """Record new stat values of files whose bytes are the same."""
        rows = [(s.size, s.mtime_ns, s.ctime_ns, s.inode, key) for key, s in stats.items()]
        self._connection.executemany(
            "UPDATE notes SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE note_key = ?", rows
        )

    def mark_unknown(self, note_key: int, stat: FileStat, problems: Sequence[Problem]) -> None:
        """The note cannot be read at the moment: keep its last good facts, record why."""
        self._connection.execute(
            "UPDATE notes SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, problems = ?, is_known = 0"
            " WHERE note_key = ?",
            (stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode, _dump_problems(problems), note_key),
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


def _connect(path: Path, *, writable: bool) -> sqlite3.Connection:
    mode = "rwc" if writable else "rw"  # a reader of a WAL file writes its shared-memory index
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    # Not bound to a thread: whoever serves many short-lived threads would gather a connection from each.
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        if writable:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(
            "PRAGMA synchronous = FULL"
        )  # what is vouched for must not outrun, nor lag, the stores
    except BaseException:
        connection.close()
        raise
    return connection


def _digest_column(store: str) -> str:
    return {"lexical": "lexical_digest", "dense": "dense_digest"}[store]


def _row(values: Sequence[Any], chunk_hashes: frozenset[str] = frozenset()) -> NoteRow:
    try:
        return _read_row(values, chunk_hashes)
    except (ValueError, LookupError, TypeError) as error:
        raise sqlite3.DatabaseError(f"a row is damaged: {error}") from error


def _read_row(values: Sequence[Any], chunk_hashes: frozenset[str]) -> NoteRow:
    (key, path, size, mtime_ns, ctime_ns, inode, digest, note_id, name, description, tags, status) = values[
        :12
    ]
    created_at, updated_at, problems, is_known, lexical_digest, dense_digest, conflict = values[12:]
    return NoteRow(
        note_key=key,
        path=path,
        stat=FileStat(size, mtime_ns, ctime_ns, inode),
        digest=digest,
        id=note_id,
        name=name,
        description=description,
        tags=tuple(json.loads(tags)),
        status=Status(status),
        created_at=created_at,
        updated_at=updated_at,
        problems=_load_problems(problems),
        is_known=bool(is_known),
        lexical_digest=lexical_digest,
        dense_digest=dense_digest,
        in_conflict=bool(conflict),
        chunk_hashes=chunk_hashes,
    )


def _dump_problems(problems: Sequence[Problem]) -> str:
    return json.dumps([[p.code.value, p.detail, p.line, p.column] for p in problems], ensure_ascii=False)


def _load_problems(text: str) -> tuple[Problem, ...]:
    if text == "[]":
        return ()
    try:
        return tuple(Problem(Code(code), *place) for code, *place in json.loads(text))
    except (ValueError, TypeError) as error:
        raise StoreError(f"the catalog holds problems of another version: {error}", advice=_ADVICE) from None


def _batches(keys: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(keys), KEYS_PER_QUERY):
        yield keys[start : start + KEYS_PER_QUERY]


@contextmanager
def _as_store_error(path: Path) -> Iterator[None]:
    try:
        yield
    except (
        sqlite3.Error,
        OSError,
        ValueError,
        LookupError,
    ) as error:  # a row that is torn is none of these rules'
        raise StoreError(f"{path}: {error}", advice=advice_for(path.parent, _ADVICE)) from error
