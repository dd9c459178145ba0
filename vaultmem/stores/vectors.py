"""The cache of raw vectors: (vector fingerprint, text hash) → unit vector, so that no text is embedded twice.

It is a cache and nothing else: deleting the file costs embedding again, never an answer. Vectors are kept as
little-endian float32, raw (not centred), because centring is arithmetic that a new calibration redoes for free.
The file also keeps one calibration per fingerprint, which costs an embedding run to make.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmem.errors import StoreError
from vaultmem.stores.folders import advice_for, close_to_others

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VECTORS_KEPT_S = 30 * 86_400
"""A vector whose text no note has had for this long is dropped."""

VECTORS_SCHEMA = 1
"""Stamped into the file as `user_version`; another version is not read, the cache is made anew."""

APPLICATION_ID = 0x766D7663
"""Stamped as `application_id` ("vmvc"), so that a foreign database is never taken for ours."""

BUSY_TIMEOUT_S = 5.0
"""How long a statement waits for another process that is in the middle of a write."""

HASHES_PER_QUERY = 500
"""SQLite promises at least 999 variables a statement; in parts of 500, 5,000 vectors come in about 40 ms."""

SECONDS_PER_DAY = 86_400

_TABLES = """
CREATE TABLE IF NOT EXISTS vectors (
    model INTEGER NOT NULL,
    text_hash TEXT NOT NULL,
    last_used_day INTEGER NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (model, text_hash)
);
CREATE INDEX IF NOT EXISTS vectors_by_day ON vectors (last_used_day);
CREATE TABLE IF NOT EXISTS models (model INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS calibrations (key TEXT PRIMARY KEY, value BLOB NOT NULL);
"""


class VectorStore:
    """Raw vectors by model and text hash. Threads may share an instance, and processes the file.

    Every method raises StoreError when the file is corrupt, foreign, or of another version.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: Path, writable: bool = True) -> VectorStore:
        """Open the file at `path`, made when it is missing and `writable`; a reader needs it to be there."""
        if not writable and not path.is_file():
            raise StoreError(f"{path} does not exist", advice="it appears with the first sync")
        if writable:
            close_to_others(path)
        with _failures(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            store = cls(path, sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, check_same_thread=False))
            try:
                store._prepare(writable)
            except BaseException:
                store.close()
                raise
        return store

    def get(self, fingerprint: str, hashes: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors that are there, by text hash; each is (d,) float32 and read-only."""
        import numpy as np

        wanted = list(dict.fromkeys(hashes))
        with self._reading():
            model = self._model(fingerprint)
            if model is None:
                return {}
            found: dict[str, NDArray[np.float32]] = {}
            for part in _parts(wanted):
                rows = self._connection.execute(
                    f"SELECT text_hash, vector FROM vectors WHERE model = ? AND text_hash IN ({_marks(part)})",
                    (model, *part),
                )
                found.update((text_hash, np.frombuffer(blob, dtype="<f4")) for text_hash, blob in rows)
            return found

    def put(self, fingerprint: str, vectors: Mapping[str, NDArray[np.float32]], now_s: float) -> None:
        """Keep these vectors, stamped as used at `now_s` (seconds since the epoch), in one transaction."""
        day = int(now_s // SECONDS_PER_DAY)
        with self._writing():
            model = self._model_made(fingerprint)
            self._connection.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?, ?) ON CONFLICT (model, text_hash)"
                " DO UPDATE SET last_used_day = excluded.last_used_day, vector = excluded.vector",
                ((model, text_hash, day, _blob(vector)) for text_hash, vector in vectors.items()),
            )

    def touch(self, fingerprint: str, hashes: Iterable[str], now_s: float) -> None:
        """Say that these vectors are still in use; a row is rewritten at most once a day."""
        day = int(now_s // SECONDS_PER_DAY)
        wanted = list(dict.fromkeys(hashes))
        with self._writing():
            model = self._model(fingerprint)
            if model is None:
                return
            for part in _parts(wanted):
                self._connection.execute(
                    f"UPDATE vectors SET last_used_day = ? WHERE model = ? AND last_used_day < ?"
                    f" AND text_hash IN ({_marks(part)})",
                    (day, model, day, *part),
                )

    def prune(self, before_s: float) -> int:
        """Forget the vectors last used on a day before the day of `before_s`; return how many."""
        day = int(before_s // SECONDS_PER_DAY)
        with self._writing():
            removed = self._connection.execute("DELETE FROM vectors WHERE last_used_day < ?", (day,)).rowcount
        if removed:
            with self._reading():
                # As a script: `execute` would step this once, and each step frees but one page.
                self._connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);")
        return removed

    def get_calibration(self, key: str) -> bytes | None:
        """The calibration kept under `key`, or None."""
        with self._reading():
            row = self._connection.execute("SELECT value FROM calibrations WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def put_calibration(self, key: str, value: bytes) -> None:
        """Keep `value` under `key`, replacing what was there."""
        with self._writing():
            self._connection.execute("INSERT OR REPLACE INTO calibrations VALUES (?, ?)", (key, value))

    def count(self) -> int:
        """How many vectors are kept, over all models."""
        with self._reading():
            return int(self._connection.execute("SELECT count(*) FROM vectors").fetchone()[0])

    def close(self) -> None:
        """Close the file; a second close is harmless."""
        self._connection.close()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock, _failures(self._path):
            yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock, _failures(self._path), self._connection:
            yield

    def _prepare(self, writable: bool) -> None:
        self._connection.execute("PRAGMA synchronous = NORMAL")
        if not writable:
            self._connection.execute("PRAGMA query_only = ON")
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if (application, version) == (APPLICATION_ID, VECTORS_SCHEMA):
            return
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables or not writable:
            raise StoreError(f"{self._path} is not a vector cache of this version", advice=_ADVICE)
        self._make_tables()

    def _make_tables(self) -> None:
        self._connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        self._connection.execute("PRAGMA journal_mode = WAL").fetchall()
        self._connection.executescript(
            f"BEGIN IMMEDIATE; {_TABLES} PRAGMA application_id = {APPLICATION_ID};"
            f" PRAGMA user_version = {VECTORS_SCHEMA}; COMMIT;"
        )

    def _model(self, fingerprint: str) -> int | None:
        """The number of a model. Not remembered: a transaction that is rolled back would leave a false one."""
        row = self._connection.execute(
            "SELECT model FROM models WHERE fingerprint = ?", (fingerprint,)
        ).fetchone()
        return None if row is None else int(row[0])

    def _model_made(self, fingerprint: str) -> int:
        self._connection.execute("INSERT OR IGNORE INTO models (fingerprint) VALUES (?)", (fingerprint,))
        model = self._model(fingerprint)
        assert model is not None
        return model


_ADVICE = "delete the file; it is a cache, and its texts are embedded again"


@contextmanager
def _failures(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        advice = advice_for(path.parent, _ADVICE)
        raise StoreError(f"the vector cache {path} cannot be used: {error}", advice=advice) from error


def _parts(values: Collection[str]) -> Iterator[list[str]]:
    ordered = list(values)
    for start in range(0, len(ordered), HASHES_PER_QUERY):
        yield ordered[start : start + HASHES_PER_QUERY]


def _marks(values: Collection[str]) -> str:
    return ", ".join("?" * len(values))


def _blob(vector: NDArray[np.float32]) -> bytes:
    import numpy as np

    return np.ascontiguousarray(vector, dtype="<f4").tobytes()
