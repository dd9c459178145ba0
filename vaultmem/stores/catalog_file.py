"""The SQLite file of the catalog: how it is opened, made, and how it fails.

SQLite's exceptions stay inside: a file that cannot be used raises StoreError.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vaultmem.errors import StoreError
from vaultmem.stores.folders import advice_for, close_to_others

BUSY_TIMEOUT_MS = 5_000
REPAIR_ADVICE = "Run `vaultmem doctor --repair`."


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


@contextmanager
def as_store_error(path: Path) -> Iterator[None]:
    """Turn what SQLite, or a row that is torn, raises inside into a StoreError."""
    try:
        yield
    except (
        sqlite3.Error,
        OSError,
        ValueError,
        LookupError,
    ) as error:  # a torn row breaks other rules than SQLite's
        raise StoreError(f"{path}: {error}", advice=advice_for(path.parent, REPAIR_ADVICE)) from error
