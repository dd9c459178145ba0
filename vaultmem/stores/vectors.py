"""The cache of raw vectors: (vector fingerprint, text hash) → unit vector, so that no text is embedded twice.

It is a cache and nothing else: deleting the file costs embedding again, never an answer. Vectors are kept as
little-endian float32, raw (not centred), because centring is arithmetic that a new calibration redoes for free.
The file also keeps one calibration per fingerprint, which costs an embedding run to make.
"""

from __future__ import annotations

import sqlite3
import threading
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmem.errors import StoreError
from vaultmem.stores.folders import advice_for, close_to_others, in_parts
from vaultmem.stores.sqlite_file import JOURNAL_PAGES, connect_reading

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VECTORS_KEPT_S = 30 * 86_400
"""A vector whose text no note has had for this long is dropped."""

VECTORS_SCHEMA = 1
"""Stamped into the file as `user_version`; another version is not read, the cache is made anew."""

VECTORS = "vectors"
"""What a StoreError of this file names as its store."""

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
    seal INTEGER,
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
            store = cls(path, _connect(path) if writable else connect_reading(path))
            try:
                store._prepare(writable)
            except BaseException:
                store.close()
                raise
        return store

    def get(self, fingerprint: str, hashes: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors that are there, by text hash; each is (d,) float32 and read-only. Damaged ones are left out."""
        import numpy as np

        wanted = list(dict.fromkeys(hashes))
        with self._reading():
            model = self._model(fingerprint)
            if model is None:
                return {}
            found: dict[str, NDArray[np.float32]] = {}
            for part in in_parts(wanted, HASHES_PER_QUERY):
                rows = self._connection.execute(
                    "SELECT text_hash, vector, seal FROM vectors"
                    f" WHERE model = ? AND text_hash IN ({_marks(part)})",
                    (model, *part),
                )
                found.update(
                    (text_hash, np.frombuffer(blob, dtype="<f4"))
                    for text_hash, blob, seal in rows
                    if _is_whole(text_hash, blob, seal)
                )
            return found

    def put(self, fingerprint: str, vectors: Mapping[str, NDArray[np.float32]], now_s: float) -> None:
        """Keep these vectors, stamped as used at `now_s` (seconds since the epoch), in one transaction."""
        day = int(now_s // SECONDS_PER_DAY)
        with self._writing():
            model = self._model_made(fingerprint)
            self._connection.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?, ?, ?) ON CONFLICT (model, text_hash) DO UPDATE"
                " SET last_used_day = excluded.last_used_day, vector = excluded.vector, seal = excluded.seal",
                (_row(model, text_hash, day, vector) for text_hash, vector in vectors.items()),
            )

    def touch(self, fingerprint: str, hashes: Iterable[str], now_s: float) -> None:
        """Say that these vectors are still in use; a row is rewritten at most once a day."""
        day = int(now_s // SECONDS_PER_DAY)
        wanted = list(dict.fromkeys(hashes))
        with self._writing():
            model = self._model(fingerprint)
            if model is None:
                return
            for part in in_parts(wanted, HASHES_PER_QUERY):
                self._connection.execute(
                    f"UPDATE vectors SET last_used_day = ? WHERE model = ? AND last_used_day < ?"
                    f" AND text_hash IN ({_marks(part)})",
                    (day, model, day, *part),
                )

    def has_older(self, before_s: float) -> bool:
        """Whether there are vectors last used on a day before the day of `before_s`."""
        day = int(before_s // SECONDS_PER_DAY)
        with self._reading():
            old = self._connection.execute("SELECT 1 FROM vectors WHERE last_used_day < ? LIMIT 1", (day,))
            return old.fetchone() is not None

    def prune(self, fingerprint: str, in_use: Collection[str], before_s: float, most: int) -> int:
        """Forget vectors of texts that are not `in_use`, and of other models; return how many.

        Those go that were last used on a day before the day of `before_s`, and the oldest of more than `most`. What is
        in use counts as used on that day.
        """
        day = int(before_s // SECONDS_PER_DAY)
        newest_first = "ORDER BY last_used_day DESC, rowid DESC"
        with self._writing():
            own = self._model(fingerprint)
            every = f"SELECT rowid, model, text_hash, last_used_day FROM vectors {newest_first}"
            rows = self._connection.execute(every).fetchall()
            spare = [(rowid, used) for rowid, model, text, used in rows if model != own or text not in in_use]
            gone = [(rowid,) for place, (rowid, used) in enumerate(spare) if place >= most or used < day]
            self._connection.executemany("DELETE FROM vectors WHERE rowid = ?", gone)
            self._connection.execute("UPDATE vectors SET last_used_day = ?1 WHERE last_used_day < ?1", (day,))
        if gone:
            with self._reading():
                # As a script: `execute` would step this once, and each step frees but one page.
                self._connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);")
        return len(gone)

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

    def verify(self) -> None:
        """Read every row. Raises StoreError when SQLite or a seal says that the file is not as it was written."""
        with self._reading():
            rows = self._connection.execute("SELECT text_hash, vector, seal FROM vectors")
            broken = sum(not _is_whole(*row) for row in rows)
            sound = self._connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if broken or not sound:
            said = f"holds {broken} damaged vectors" if broken else "is damaged"
            raise StoreError(f"the vector cache {self._path} {said}", store=VECTORS, advice=_ADVICE)

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
        self._connection.execute(f"PRAGMA wal_autocheckpoint = {JOURNAL_PAGES}")
        self._connection.execute("PRAGMA journal_size_limit = 0")
        if not writable:
            self._connection.execute("PRAGMA query_only = ON")
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if (application, version) == (APPLICATION_ID, VECTORS_SCHEMA):
            self._add_seals(writable)
            return
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables or not writable:
            raise StoreError(f"{self._path} is not a vector cache of this version", advice=_ADVICE)
        self._make_tables()

    def _add_seals(self, writable: bool) -> None:
        """Files of older versions have none; what took hours to embed is not thrown away for that."""
        columns = {name for _, name, *_ in self._connection.execute("PRAGMA table_info (vectors)")}
        if writable and "seal" not in columns:
            self._connection.execute("ALTER TABLE vectors ADD COLUMN seal INTEGER")

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
        said = f"the vector cache {path} cannot be used: {error}"
        raise StoreError(said, store=VECTORS, advice=advice) from error


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    return sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, check_same_thread=False)


def _marks(values: Collection[str]) -> str:
    return ", ".join("?" * len(values))


def _row(model: int, text_hash: str, day: int, vector: NDArray[np.float32]) -> tuple[object, ...]:
    blob = _blob(vector)
    return model, text_hash, day, blob, _seal(text_hash, blob)


def _seal(text_hash: str, blob: bytes) -> int:
    return zlib.crc32(blob, zlib.crc32(text_hash.encode()))


def _is_whole(text_hash: str, blob: bytes, seal: int | None) -> bool:
    """The vector is the one that was kept for this text; those of old files have no seal to tell by."""
    return seal is None or seal == _seal(text_hash, blob)


def _blob(vector: NDArray[np.float32]) -> bytes:
    import numpy as np

    return np.ascontiguousarray(vector, dtype="<f4").tobytes()
