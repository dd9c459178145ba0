"""Records of notes, as the catalog is given them."""

from __future__ import annotations

from vaultmem.files.snapshot import FileStat
from vaultmem.notes.metadata import Metadata
from vaultmem.notes.parse import Note
from vaultmem.stores.catalog import Catalog
from vaultmem.stores.catalog_rows import ChunkRef, NoteRecord

STAT = FileStat(10, 2_000_000_000, 3, 4)


def record(path: str, note_id: str | None = "a", key: int | None = None, **fields) -> NoteRecord:
    """A record whose metadata, note and own parts are as usual, but for `fields`."""
    said = {"id": note_id, "name": "名 N", "description": "about", "tags": ("标签", "x/y")}
    said |= {"created_at": "2026-05-14"}
    read = {"digest": f"digest of {path}", "body": "", "body_line": 1, "problems": (), "is_readable": True}
    kept = {"stat": STAT, "chunks": (ChunkRef("metadata", 0, "h0"), ChunkRef("body", 0, "h1"))}
    assert fields.keys() <= Metadata.__dataclass_fields__.keys() | read.keys() | kept.keys()
    chosen = [{k: fields.get(k, v) for k, v in part.items()} for part in (said, read, kept)]
    chosen[0] |= {k: v for k, v in fields.items() if k in Metadata.__dataclass_fields__}
    return NoteRecord(key, Note(Metadata(**chosen[0]), path, **chosen[1]), **chosen[2])


def write(catalog: Catalog, *records: NoteRecord) -> list[int]:
    with catalog.transaction():
        return catalog.write(records)
