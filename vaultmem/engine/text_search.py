"""Text search over the notes as they are on disk now; what decides is read from each matching file itself.

With caches, `search_notes` learns from them who else carries an id. In the minutes in which a large vault has none yet,
the functions named `_unindexed` look for that in the files: slower, and blind to ids that are written in unusual ways
(the engine reads those once it has synced), but true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmem.engine.opened import copies, note_now, read_memory
from vaultmem.errors import ConflictError, NoteNotFoundError, UsageError
from vaultmem.files.vault import Vault
from vaultmem.notes.field_rules import ID_LIMIT_CHARS
from vaultmem.notes.metadata import Status
from vaultmem.notes.parse import Note
from vaultmem.search.ripgrep import search_files
from vaultmem.views import NoteCopy, OpenedMemory, SearchMatch, SearchResult

if TYPE_CHECKING:  # whoever searches without caches does without their libraries
    from vaultmem.stores.catalog import Catalog
    from vaultmem.sync.overlay import Overlay

ID_LINES_LIMIT = 500


def _search(
    vault: Vault, pattern: str, is_wanted: Callable[[Note], bool], *, limit: int, fixed: bool
) -> SearchResult:
    if limit < 1:
        raise UsageError(f"the limit {limit} is too small", advice="Give a limit of 1 or more.")
    ids: dict[str, str | None] = {}

    def keep(path: str) -> bool:
        note = note_now(vault, path)
        ids[path] = note.id if note else None
        return note is not None and is_wanted(note)

    found = search_files(vault.root, pattern, fixed=fixed, limit=limit, keep=keep)
    matches = (SearchMatch(ids[m.path], m.path, m.line, m.text, m.before, m.after) for m in found.matches)
    return SearchResult(tuple(matches), found.warnings)


def _is_active(note: Note) -> bool:
    return note.id is not None and note.status is Status.ACTIVE


# --- with caches


def search_notes(
    catalog: Catalog,
    overlay: Overlay,
    vault: Vault,
    pattern: str,
    *,
    limit: int,
    fixed: bool,
    include_all: bool,
) -> SearchResult:
    """Matching lines of active, unconflicted notes with an id, or with `include_all` of any.

    Raises UsageError for a limit below 1 or a pattern that cannot be searched.
    """

    def is_wanted(note: Note) -> bool:
        return include_all or (_is_active(note) and not _has_rival(catalog, overlay, vault, note))

    return _search(vault, pattern, is_wanted, limit=limit, fixed=fixed)


def _has_rival(catalog: Catalog, overlay: Overlay, vault: Vault, note: Note) -> bool:
    """Another note carries the same id."""
    note_id = note.id or ""
    others = set(overlay.paths_with_id(catalog, note_id)) - {note.path}
    return any(_still_has_id(vault, path, note_id) for path in others)


def _still_has_id(vault: Vault, path: str, note_id: str) -> bool:
    """A note on record may have lost its id, or its file, since the last look. One that cannot be read keeps it."""
    note = note_now(vault, path)
    return note is not None and (note.id == note_id or not note.is_readable)


# --- without


def search_unindexed(root: Path, pattern: str, *, limit: int, fixed: bool = False) -> SearchResult:
    """Matching lines of active memories. Raises what `search_notes` raises."""
    vault = Vault(root)
    found = _search(vault, pattern, _is_active, limit=limit, fixed=fixed)
    holders = _paths_by_id(vault, {match.id for match in found.matches if match.id})
    alone = tuple(match for match in found.matches if len(holders.get(match.id or "", ())) <= 1)
    return replace(found, matches=alone)


def open_unindexed(root: Path, key: str) -> OpenedMemory:
    """The memory with this id.

    Raises:
        NoteNotFoundError: no note carries it in the usual form, `id: …` on a line of its own.
        ConflictError: several do.
    """
    vault, key = Vault(root), key.strip()
    paths = _paths_by_id(vault, [key]).get(key, [])
    if not paths:
        raise NoteNotFoundError(f"no memory has the id {key!r}")
    if len(paths) > 1:
        raise ConflictError(f"{len(paths)} notes have the id {key!r}", paths=tuple(sorted(paths)))
    return read_memory(vault, paths[0])


def copies_unindexed(root: Path, key: str) -> tuple[NoteCopy, ...]:
    """The notes that carry one id, with what tells them apart."""
    vault, key = Vault(root), key.strip()
    return copies(vault, sorted(_paths_by_id(vault, [key]).get(key, [])))


def _paths_by_id(vault: Vault, ids: Collection[str]) -> dict[str, list[str]]:
    """Id → paths of the notes that carry it, in the usual form."""
    either = "|".join(re.escape(key) for key in ids if key.isprintable() and len(key) <= ID_LIMIT_CHARS)
    if not either:
        return {}
    lines = search_files(
        vault.root, rf"^id:\s*[\"']?(?:{either})[\"']?\s*(?:#.*)?$", limit=ID_LINES_LIMIT, context=0
    )
    holders: dict[str, list[str]] = {}
    for path in dict.fromkeys(match.path for match in lines.matches):
        note = note_now(vault, path)
        if note is not None and note.id in ids:
            holders.setdefault(note.id or "", []).append(path)
    return holders
