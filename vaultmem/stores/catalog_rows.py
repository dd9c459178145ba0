"""What the catalog keeps of a note, as values, and the way between them and the columns of its table.

A field of the metadata has one column of its own name; a new field gets its line in `METADATA_COLUMNS`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vaultmem.errors import StoreError
from vaultmem.files.snapshot import FileStat
from vaultmem.notes.metadata import Metadata, WithMetadata
from vaultmem.notes.parse import Note
from vaultmem.notes.problems import Code, Problem
from vaultmem.stores.sqlite_file import REPAIR_ADVICE

METADATA_COLUMNS = {
    "id": "TEXT",
    "name": "TEXT NOT NULL",
    "description": "TEXT NOT NULL",
    "tags": "TEXT NOT NULL",
    "status": "TEXT NOT NULL",
    "created_at": "TEXT",
    "updated_at": "TEXT",
}
"""One for each field of the metadata, in the order of the fields, with its SQL type."""

STAT_COLUMNS = ("size", "mtime_ns", "ctime_ns", "inode")

_WRITTEN = {
    "path": "TEXT NOT NULL UNIQUE",
    **dict.fromkeys(STAT_COLUMNS, "INTEGER NOT NULL"),
    "digest": "TEXT NOT NULL",
    **METADATA_COLUMNS,
    "problems": "TEXT NOT NULL",
    "is_readable": "INTEGER NOT NULL",
}
_EVERY = {
    "note_key": "INTEGER PRIMARY KEY AUTOINCREMENT",
    **_WRITTEN,
    "lexical_digest": "TEXT",
    "dense_digest": "TEXT",
}
WRITTEN_COLUMNS = tuple(_WRITTEN)
"""What `written_values` are for: all but the key and the digests of the stores."""
COLUMNS = ", ".join(_EVERY)
"""What `read_row` reads, before whether the note is in conflict and whether the row is as it was written."""
KNOWN_COLUMNS = f"note_key, path, {', '.join(STAT_COLUMNS)}, digest, id, is_readable, lexical_digest"
"""What `read_known` reads."""
SEALED_NOTE = f"row_seal({COLUMNS})"
"""The seal of a row as it should be, in SQL."""
_KEEP_SEAL = f"UPDATE notes SET seal = {SEALED_NOTE} WHERE note_key = NEW.note_key"
NOTES_TABLE = f"""
CREATE TABLE notes ({", ".join(f"{name} {type_}" for name, type_ in _EVERY.items())}, seal INTEGER);
CREATE TRIGGER note_made AFTER INSERT ON notes BEGIN {_KEEP_SEAL}; END;
CREATE TRIGGER note_changed AFTER UPDATE OF {COLUMNS} ON notes BEGIN {_KEEP_SEAL}; END;
"""


@dataclass(frozen=True, slots=True)
class Known:
    """The few facts about a note on record that a scan is compared with."""

    note_key: int
    path: str
    stat: FileStat
    digest: str
    id: str | None
    is_readable: bool
    lexical_digest: str | None

    @property
    def needs_indexing(self) -> bool:
        """The lexical store does not hold the digest on record."""
        return self.id is not None and self.lexical_digest != self.digest

    @property
    def is_settled(self) -> bool:
        """Its bytes were read, and the lexical store holds them: equal stat values mean there is nothing to do."""
        return self.is_readable and not self.needs_indexing


@dataclass(frozen=True, slots=True)
class NoteRow(WithMetadata):
    """One note on record. `chunk_hashes`, of its newest text, are only filled in while its vectors are pending."""

    note_key: int
    path: str
    stat: FileStat
    digest: str
    problems: tuple[Problem, ...]
    is_readable: bool
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
        return self.metadata.is_admissible and not self.in_conflict

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
    note: Note
    stat: FileStat
    chunks: tuple[ChunkRef, ...]


# --- to columns


def written_values(record: NoteRecord) -> tuple[object, ...]:
    """The values of WRITTEN_COLUMNS."""
    note = record.note
    return (
        note.path,
        *stat_values(record.stat),
        note.digest,
        *_metadata_values(note.metadata),
        problems_text(note.problems),
        int(note.is_readable),
    )


def stat_values(stat: FileStat) -> tuple[int, int, int, int]:
    """The values of STAT_COLUMNS."""
    return stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode


def problems_text(problems: Sequence[Problem]) -> str:
    """Problems as the text of their column."""
    return json.dumps([[p.code.value, p.detail, p.line, p.column] for p in problems], ensure_ascii=False)


def _metadata_values(metadata: Metadata) -> tuple[object, ...]:
    values = {name: getattr(metadata, name) for name in METADATA_COLUMNS}
    values |= {"tags": json.dumps(metadata.tags, ensure_ascii=False), "status": metadata.status.value}
    return tuple(values.values())


# --- from columns


def read_known(values: Sequence[Any]) -> Known:
    """The few facts, of KNOWN_COLUMNS."""
    key, path, *stat, digest, note_id, is_readable, lexical_digest = values
    return Known(key, path, FileStat(*stat), digest, note_id, bool(is_readable), lexical_digest)


def read_row(values: Sequence[Any], chunk_hashes: frozenset[str] = frozenset()) -> NoteRow:
    """A note, of COLUMNS, whether it is in conflict, and whether its seal is whole.

    Raises sqlite3.DatabaseError, StoreError.
    """
    *values, is_whole = values
    if not is_whole:
        raise sqlite3.DatabaseError("a row is not as it was written")
    try:
        return _read_row(values, chunk_hashes)
    except (ValueError, LookupError, TypeError) as error:
        raise sqlite3.DatabaseError(f"a row is damaged: {error}") from error


def _read_row(values: Sequence[Any], chunk_hashes: frozenset[str]) -> NoteRow:
    key, path, size, mtime_ns, ctime_ns, inode, digest, *said = values[:-5]
    problems, is_readable, lexical_digest, dense_digest, in_conflict = values[-5:]
    return NoteRow(
        metadata=_read_metadata(said),
        note_key=key,
        path=path,
        stat=FileStat(size, mtime_ns, ctime_ns, inode),
        digest=digest,
        problems=_read_problems(problems),
        is_readable=bool(is_readable),
        lexical_digest=lexical_digest,
        dense_digest=dense_digest,
        in_conflict=bool(in_conflict),
        chunk_hashes=chunk_hashes,
    )


def _read_metadata(values: Sequence[Any]) -> Metadata:
    said = dict(zip(METADATA_COLUMNS, values, strict=True))
    return Metadata.of_plain(said | {"tags": json.loads(said["tags"])})


def _read_problems(text: str) -> tuple[Problem, ...]:
    if text == "[]":
        return ()
    try:
        return tuple(Problem(Code(code), *place) for code, *place in json.loads(text))
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"the catalog holds problems of another version: {error}", advice=REPAIR_ADVICE
        ) from None
