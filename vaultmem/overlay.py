"""What a process that may not write knows better than the catalog: notes that changed since the writer's last sync.

Recall and open read the catalog through it, so an answer is never older than the last look at the files.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from vaultmem.changes import compare
from vaultmem.notes import Note
from vaultmem.stores.catalog import Catalog, NoteRow
from vaultmem.sync import read_note
from vaultmem.vault import Vault


@dataclass(frozen=True, slots=True)
class Overlay:
    """Notes as they are on disk, by path, and paths that are gone."""

    changed: Mapping[str, Note] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()

    @property
    def count(self) -> int:
        """How many notes the catalog is behind."""
        return len(self.changed) + len(self.gone)

    def paths_with_id(self, catalog: Catalog, note_id: str) -> tuple[str, ...]:
        """Where notes with this id lie now; more than one is a conflict."""
        recorded = {row.path for row in catalog.rows_with_id(note_id)}
        recorded -= self.gone | {path for path, note in self.changed.items() if note.is_known}
        return tuple(sorted(recorded | {path for path, note in self.changed.items() if note.id == note_id}))

    def apply(self, catalog: Catalog, row: NoteRow) -> NoteRow | None:
        """The row as it would be after a sync, or None when its note is gone."""
        if not self.count:
            return row
        if row.path in self.gone:
            return None
        note = self.changed.get(row.path)
        if note is not None and note.is_known:
            row = replace(
                row,
                id=note.id,
                name=note.name,
                description=note.description,
                tags=note.tags,
                status=note.status,
                updated_at=note.updated_at,
            )
        if row.id is None:
            return None if note is not None else row
        return replace(row, in_conflict=len(self.paths_with_id(catalog, row.id)) > 1)


@dataclass(frozen=True, slots=True)
class OverlaidMemories:
    """The catalog as recall reads it, with the overlay on top."""

    catalog: Catalog
    overlay: Overlay

    def rows_by_key(self, keys: Collection[int]) -> Mapping[int, NoteRow]:
        """Rows with their chunk hashes, as they would be after a sync."""
        rows = self.catalog.rows_by_key(keys)
        if not self.overlay.count:
            return rows
        seen = {key: self.overlay.apply(self.catalog, row) for key, row in rows.items()}
        return {key: row for key, row in seen.items() if row is not None}

    def admitted_count(self) -> int:
        """How many notes may be hinted, by the catalog."""
        return self.catalog.admitted_count()


def look(catalog: Catalog, vault: Vault, deadline: float) -> Overlay:
    """What differs between the files and the catalog, read as far as `deadline` (of time.monotonic) allows.

    Raises:
        RootMissingError: the root is gone.
    """
    snapshot, known = vault.scan(), catalog.known()
    differences = compare(snapshot, known)
    changed: dict[str, Note] = {}
    for path in differences.to_read:
        if time.monotonic() > deadline:
            break
        reading = read_note(vault, path, snapshot.files.get(path))
        if reading is not None:
            changed[path] = reading.note
    return Overlay(changed, frozenset(known.path for known in differences.gone))
