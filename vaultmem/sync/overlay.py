"""What a process that may not write knows better than the catalog: notes that changed since the writer's last sync.

Recall and open read the catalog through it, so an answer is never older than the last look at the files.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from vaultmem.files.snapshot import NO_FILE
from vaultmem.files.vault import Reading, Vault
from vaultmem.notes.parse import Note
from vaultmem.stores.catalog import Catalog
from vaultmem.stores.catalog_rows import NoteRow
from vaultmem.sync import integrity
from vaultmem.sync.plan import find_differences, hold_back_half_written, plan_steps
from vaultmem.text.shown import is_text


@dataclass(frozen=True, slots=True)
class Overlay:
    """Notes as they are on disk, by path, and paths that are gone."""

    changed: Mapping[str, Note] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    moved: Mapping[str, str] = field(default_factory=dict)
    """Of the paths that are gone, those whose note lies elsewhere now, and where."""
    has_work: bool = False
    """A sync would find something to do, were it only other stat values."""

    @property
    def count(self) -> int:
        """How many notes the catalog is behind."""
        return len(self.changed) + len(self.gone) - len(self.moved)

    def paths_with_id(self, catalog: Catalog, note_id: str) -> tuple[str, ...]:
        """Where notes with this id lie now; more than one is a conflict. A lone surrogate is in no note."""
        if not is_text(note_id):
            return ()
        recorded = {row.path for row in catalog.rows_with_id(note_id)}
        recorded -= self.gone | {path for path, note in self.changed.items() if note.is_readable}
        return tuple(sorted(recorded | {path for path, note in self.changed.items() if note.id == note_id}))

    def apply(self, catalog: Catalog, row: NoteRow) -> NoteRow | None:
        """The row as it would be after a sync, or None when its note is gone."""
        if not self.count:
            return row
        path = self.moved.get(row.path, row.path)
        if path in self.gone:
            return None
        note = self.changed.get(path)
        if note is not None:
            row = _as_read(row, note) if note.is_readable else replace(row, problems=note.problems)
        if row.id is None:
            return row
        return replace(row, in_conflict=len(self.paths_with_id(catalog, row.id)) > 1)


def _as_read(row: NoteRow, note: Note) -> NoteRow:
    """What the file says itself; digests stay, since they say what the stores hold."""
    return replace(row, metadata=note.metadata, path=note.path, problems=note.problems)


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
        RootMissingError: the root is gone, or another folder lies in its place.
    """
    snapshot, known = vault.scan(), catalog.known()
    integrity.refuse_replaced_root(catalog, vault, snapshot, known)
    differences = find_differences(snapshot, known)
    readings = list[Reading]()
    for path in differences.to_read:
        if time.monotonic() > deadline:
            break
        reading = vault.note_at(path, snapshot.files.get(path, NO_FILE))
        if reading is not None:
            readings.append(reading)
    plan, _ = hold_back_half_written(plan_steps(differences, readings, known), time.time_ns())
    return Overlay(
        changed={step.reading.note.path: step.reading.note for step in plan.written + plan.unknown},
        gone=frozenset(gone.path for gone in differences.gone),
        moved={step.known.path: step.reading.note.path for step in plan.moved if step.known},
        has_work=not plan.is_empty or len(readings) < len(differences.to_read),
    )
