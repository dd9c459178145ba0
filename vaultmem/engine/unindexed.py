"""Search and open straight from the files, for the minutes in which a large vault has no caches yet.

Slower per answer and blind to ids that are written in unusual ways (the engine reads those once it has synced),
but true: what is shown was read from the note itself, and a second note with the same id is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from vaultmem.errors import ConflictError, NoteNotFoundError
from vaultmem.files.vault import Vault
from vaultmem.notes.metadata import Status
from vaultmem.notes.parse import Note
from vaultmem.search import ripgrep
from vaultmem.views import NoteCopy, OpenedMemory, SearchMatch, SearchResult

ID_LINES_LIMIT = 500
ID_LIMIT_CHARS = 128


def open_unindexed(root: Path, key: str) -> OpenedMemory:
    """The memory with this id.

    Raises:
        NoteNotFoundError: no note carries it in the usual form, `id: …` on a line of its own.
        ConflictError: several do.
    """
    vault, key = Vault(root), key.strip()
    paths = _notes_by_id(vault, [key]).get(key, [])
    if not paths:
        raise NoteNotFoundError(f"no memory has the id {key!r}")
    if len(paths) > 1:
        raise ConflictError(f"{len(paths)} notes have the id {key!r}", paths=tuple(sorted(paths)))
    from vaultmem.engine.answers import read_memory

    return read_memory(vault, paths[0])


def copies_unindexed(root: Path, key: str) -> tuple[NoteCopy, ...]:
    """The notes that carry one id, with what tells them apart."""
    from vaultmem.engine.answers import copies

    vault, key = Vault(root), key.strip()
    return copies(vault, sorted(_notes_by_id(vault, [key]).get(key, [])))


def search_unindexed(root: Path, pattern: str, *, limit: int, fixed: bool = False) -> SearchResult:
    """Matching lines of active memories. Raises UsageError for a pattern that cannot be searched."""
    vault = Vault(root)
    notes: dict[str, Note | None] = {}

    def is_memory(path: str) -> bool:
        note = notes.setdefault(path, _note(vault, path))
        return note is not None and note.id is not None and note.status is Status.ACTIVE

    found = ripgrep.search(root, pattern, fixed=fixed, limit=limit, keep=is_memory)
    ids = {note.id for match in found.matches if (note := notes[match.path]) and note.id}
    holders = _notes_by_id(vault, ids)
    matches = []
    for match in found.matches:
        note = notes[match.path]
        if note and note.id and len(holders.get(note.id, ())) <= 1:
            matches.append(
                SearchMatch(note.id, match.path, match.line, match.text, match.before, match.after)
            )
    return SearchResult(tuple(matches), found.warnings)


def _notes_by_id(vault: Vault, keys: Collection[str]) -> dict[str, list[str]]:
    """Id → paths of the notes that carry it."""
    either = "|".join(re.escape(key) for key in keys if key.isprintable() and len(key) <= ID_LIMIT_CHARS)
    if not either:
        return {}
    lines = ripgrep.search(
        vault.root, rf"^id:\s*[\"']?(?:{either})[\"']?\s*(?:#.*)?$", limit=ID_LINES_LIMIT, context=0
    )
    holders: dict[str, list[str]] = {}
    for path in dict.fromkeys(match.path for match in lines.matches):
        note = _note(vault, path)
        if note is not None and note.id in keys:
            holders.setdefault(note.id or "", []).append(path)
    return holders


def _note(vault: Vault, path: str) -> Note | None:
    reading = vault.note_at(path)
    return reading.note if reading else None  # gone, or not to be read: not a memory at the moment
