"""What lost versions say of the notes that they belong to: which one each is of, and how the two differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from vaultmem.editing.edits import diff
from vaultmem.errors import RefusedError
from vaultmem.files.lost import LostVersion, lost_versions
from vaultmem.files.vault import Vault
from vaultmem.notes.diagnostics import Diagnostic, diagnose_lost
from vaultmem.notes.parse import parse_note
from vaultmem.stores.catalog_rows import NoteRow


def diagnose_lost_versions(vault: Vault, rows: Iterable[NoteRow]) -> Iterator[Diagnostic]:
    """A diagnostic for each lost version that differs from its note, one of `rows`, as that is now."""
    versions = tuple(lost_versions(vault.root))
    known = tuple(rows) if versions else ()
    for version in versions:
        row = _note_of(version, known)
        now = b"" if row is None else _bytes_now(vault, row.path)
        if now != version.data:
            path, note_id = (version.place, None) if row is None else (row.path, row.id)
            yield diagnose_lost(path, note_id, version.place, diff(now, version.data, path))


def _note_of(version: LostVersion, rows: Sequence[NoteRow]) -> NoteRow | None:
    """The note with the id that stands in the version, if need be the one with its file name; it may have moved."""
    note_id = parse_note(version.name, version.data).id
    named = [row for row in rows if row.path.rpartition("/")[2] == version.name]
    with_id = [row for row in rows if note_id is not None and row.id == note_id]
    both = [row for row in named if row in with_id]
    return next(iter((*both, *with_id, *named)), None)


def _bytes_now(vault: Vault, path: str) -> bytes:
    try:
        return vault.read(path)[0]
    except RefusedError:
        return b""
