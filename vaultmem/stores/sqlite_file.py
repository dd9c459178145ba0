"""SQLite's files in the state dir: how one is opened, made, read where nothing may be written, and how it fails.

SQLite's exceptions stay inside: a file that cannot be used raises StoreError.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from vaultmem.errors import StoreError
from vaultmem.stores.folders import advice_for, close_to_others, is_full

BUSY_TIMEOUT_MS = 5_000

JOURNAL_PAGES = 32
"""From here on SQLite's journal is taken into the file. By itself it grows to 4 MB, and never shrinks."""
PAGE_BYTES = 4_096
REPAIR_ADVICE = "Run `vaultmem doctor --repair`."

PASSING_CODES = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM)
"""What SQLite says of the moment and not of the file."""


def open_file(path: Path, *, schema: int, tables: str, writable: bool) -> sqlite3.Connection:
    """The file at `path`, made with `tables` when it is missing and `writable`.

    Raises:
        StoreError: it is torn, foreign, of another schema, or missing and not `writable`.
    """
    if writable:
        close_to_others(path)
    with as_store_error(path):
        connection = _connect(path, writable=writable)
        try:
            _prepare(connection, path, schema=schema, tables=tables, writable=writable)
        except BaseException:
            connection.close()
            raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, *, schema: int, tables: str, writable: bool) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    count = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if version == 0 and count == 0 and writable:
        connection.executescript(f"BEGIN IMMEDIATE; {tables} PRAGMA user_version = {schema}; COMMIT;")
    elif version == 0 and count == 0:
        raise StoreError(f"{path} is empty: whoever began it found no room, or was ended")
    elif version != schema:
        raise StoreError(f"{path}: made by another version (schema {version}, expected {schema})")


class StillConnection(sqlite3.Connection):
    """To a file as it was when it was opened, in a folder that this process may not write."""

    copied_to: Path | None = None
    """The folder of the copy that is read instead, deleted with the connection."""

    def close(self) -> None:
        """Close it; a second close is harmless."""
        super().close()
        if self.copied_to is not None:
            shutil.rmtree(self.copied_to, ignore_errors=True)


def connect_reading(path: Path) -> sqlite3.Connection:
    """A connection that only reads, whether or not this process may write where the file lies.

    A reader of a journalled (WAL) file writes its shared-memory index. Where that may not be, or a full disk has no
    room for it, and no other process has made one, the file is read as it stands; with a journal that a killed
    writer left, a copy of both is. Raises sqlite3.Error, OSError.
    """
    connection = _connection(path, "mode=rw", sqlite3.Connection)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        is_writable = os.access(path.parent, os.W_OK) and not is_full(path.parent)
        if is_writable or not os.access(path, os.R_OK):
            raise
        return _connect_still(path)
    return connection


def _connect_still(path: Path) -> StillConnection:
    journal = journal_of(path)
    if not (journal.exists() and journal.stat().st_size):
        return _connection(path, "mode=ro&immutable=1", StillConnection)
    folder = Path(tempfile.mkdtemp(prefix="vaultmem-"))
    try:
        for file in (path, journal):
            shutil.copyfile(file, folder / file.name)
        connection = _connection(folder / path.name, "mode=rw", StillConnection)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    connection.copied_to = folder
    return connection


def journal_of(path: Path) -> Path:
    """Where SQLite keeps what it has not yet taken into the file."""
    return path.with_name(f"{path.name}-wal")


C = TypeVar("C", bound=sqlite3.Connection)


def _connection(path: Path, options: str, kind: type[C]) -> C:
    # Not bound to a thread: whoever serves many short-lived threads would gather a connection from each.
    uri = f"{path.absolute().as_uri()}?{options}"
    made = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, factory=kind)
    assert isinstance(made, kind)
    return made


def _connect(path: Path, *, writable: bool) -> sqlite3.Connection:
    connection = _connection(path, "mode=rwc", sqlite3.Connection) if writable else connect_reading(path)
    try:
        connection.create_function("row_seal", -1, row_seal, deterministic=True)
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        if writable:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA journal_size_limit = 0")
        # What is vouched for must not outrun, nor lag, the stores.
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def row_seal(*values: object) -> int:
    """What a row keeps beside its values, so that a flipped bit in them is seen: SQLite itself has no sums."""
    return zlib.crc32("\x1f".join(map(repr, values)).encode("utf-8", "surrogatepass"))


def is_passing(met: StoreError) -> bool:
    """The failure says nothing of what the file holds: there was no room, or somebody else was at it."""
    return getattr(met.__cause__, "sqlite_errorcode", 0) & 0xFF in PASSING_CODES


@contextmanager
def as_store_error(path: Path) -> Iterator[None]:
    """Turn what SQLite, or a row that is torn, raises inside into a StoreError."""
    try:
        yield
    # A torn row breaks other rules than SQLite's.
    except (sqlite3.Error, OSError, ValueError, LookupError) as error:
        advice = advice_for(path.parent, REPAIR_ADVICE)
        raise StoreError(f"{path}: {error}", store="catalog", advice=advice) from error
