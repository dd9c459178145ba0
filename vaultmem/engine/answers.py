"""Answers from the caches and the files: notes, diagnostics, an opened memory, text search. Nothing is written.

The catalog is read through the overlay, so that a process that may not write answers no less truly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from vaultmem.embedding.embedder import Embedder
from vaultmem.errors import ConflictError, NoteNotFoundError, RefusedError, UsageError
from vaultmem.files.vault import Vault
from vaultmem.notes.diagnostics import Diagnostic, diagnose
from vaultmem.notes.metadata import Status
from vaultmem.notes.names import sync_copy_of
from vaultmem.notes.parse import Note, parse_note
from vaultmem.recall.evidence import Meaning, Sources
from vaultmem.stores.caches import Caches, StoreName
from vaultmem.stores.catalog import Catalog
from vaultmem.stores.catalog_rows import NoteRow
from vaultmem.sync.overlay import OverlaidMemories, Overlay
from vaultmem.views import NoteCopy, NoteView, OpenedMemory, SearchMatch, SearchResult

# --- notes and diagnostics


def current_rows(catalog: Catalog, overlay: Overlay) -> list[NoteRow]:
    """Every note on record, by path, as it would be after a sync."""
    rows = (overlay.apply(catalog, row) for row in catalog.rows())
    return [row for row in rows if row is not None]


def diagnose_rows(rows: Iterable[NoteRow]) -> dict[str, tuple[Diagnostic, ...]]:
    """Path to the diagnostics of each note."""
    rows = list(rows)
    sharing: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row.id is not None:
            sharing[row.id].append(row.path)
    others = {
        row.path: tuple(path for path in sharing.get(row.id or "", ()) if path != row.path) for row in rows
    }
    return {row.path: diagnose(row.path, row.metadata, row.problems, others[row.path]) for row in rows}


def note_views(rows: Iterable[NoteRow], found: Mapping[str, tuple[Diagnostic, ...]]) -> tuple[NoteView, ...]:
    """The notes as surfaces show them, by path; `found` are their diagnostics."""
    return tuple(
        NoteView(
            metadata=row.metadata,
            path=row.path,
            admitted=row.is_admitted,
            indexed=row.is_indexed,
            diagnostics=tuple(diagnostic.code for diagnostic in found[row.path]),
            size=row.stat.size,
            mtime_ns=row.stat.mtime_ns,
            is_pending=row.is_pending,
        )
        for row in rows
    )


def tag_counts(rows: Iterable[NoteRow]) -> Mapping[str, int]:
    """How many notes carry each tag, most used first."""
    counts = Counter(tag for row in rows for tag in row.tags)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


# --- one memory


def locate(catalog: Catalog, overlay: Overlay, note_id: str) -> str:
    """The path of the one note with this id.

    Raises:
        NoteNotFoundError: there is none.
        ConflictError: there are several.
    """
    paths = overlay.paths_with_id(catalog, note_id.strip())
    if not paths:
        raise NoteNotFoundError(
            f"no memory has the id {note_id!r}",
            advice="Search for it (ids are case-sensitive), or list all ids with `vaultmem notes`.",
        )
    if len(paths) > 1:
        raise ConflictError(
            f"{len(paths)} notes have the id {note_id!r}: {', '.join(paths)}",
            paths=paths,
            advice="Give one of them a fresh id: `vaultmem adopt PATH`.",
        )
    return paths[0]


def copies(vault: Vault, paths: Iterable[str]) -> tuple[NoteCopy, ...]:
    """What tells notes with the same id apart. Paths that are gone are left out."""
    everyone = tuple(paths)
    siblings = [path.rpartition("/")[2] for path in everyone]
    found = []
    for path in everyone:
        stat = vault.stat(path)
        if stat is not None:
            mtime = datetime.fromtimestamp(stat.mtime_ns / 1e9, UTC)
            found.append(NoteCopy(path, mtime, stat.size, sync_copy_of(path, siblings) is not None))
    return tuple(found)


def read_memory(vault: Vault, path: str) -> OpenedMemory:
    """A note as it is on disk now.

    Raises:
        NoteNotFoundError: it is gone.
        RefusedError: it cannot be read, or is not UTF-8.
    """
    data, _ = vault.read(path)
    return opened(parse_note(path, data), data)


def opened(note: Note, data: bytes) -> OpenedMemory:
    """A note and its bytes as an answer."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RefusedError(
            f"{note.path} is not UTF-8 (byte {error.start})", advice="Save it as UTF-8 in an editor."
        ) from None
    body = note.body if len(data) <= WHOLE_BODY_BYTES else _whole_body(note, text)
    return OpenedMemory(note.metadata, note.path, body, text, note.digest)


WHOLE_BODY_BYTES = 1_000_000
"""A parsed note's body is cut at a mebibyte; a larger file's is taken from its text."""


def _whole_body(note: Note, text: str) -> str:
    start = 0
    for _ in range(note.body_line - 1):
        start = text.find("\n", start) + 1
    return text[start:]


# --- text search


def search(
    catalog: Catalog,
    overlay: Overlay,
    vault: Vault,
    pattern: str,
    *,
    limit: int,
    fixed: bool,
    include_all: bool,
) -> SearchResult:
    """ripgrep over the notes as they are now; active, unconflicted notes with an id unless `include_all`.

    What decides is read from each matching file itself. Raises UsageError for a pattern that cannot be searched.
    """
    from vaultmem.search import ripgrep

    if limit < 1:
        raise UsageError(f"the limit {limit} is too small", advice="Give a limit of 1 or more.")
    ids: dict[str, str | None] = {}

    def keep(path: str) -> bool:
        note = _note_now(vault, path)
        ids[path] = note.id if note else None
        return note is not None and (include_all or _is_searchable(catalog, overlay, vault, note))

    found = ripgrep.search(vault.root, pattern, fixed=fixed, limit=limit, keep=keep)
    matches = (SearchMatch(ids.get(m.path), m.path, m.line, m.text, m.before, m.after) for m in found.matches)
    return SearchResult(tuple(matches), found.warnings)


def _note_now(vault: Vault, path: str) -> Note | None:
    reading = vault.note_at(path)
    return reading.note if reading else None


def _is_searchable(catalog: Catalog, overlay: Overlay, vault: Vault, note: Note) -> bool:
    if note.id is None or note.status is not Status.ACTIVE:
        return False
    others = set(overlay.paths_with_id(catalog, note.id)) - {note.path}
    return not any(_still_has_id(vault, path, note.id) for path in others)


def _still_has_id(vault: Vault, path: str, note_id: str) -> bool:
    """A note on record may have lost its id, or its file, since the last look. One that cannot be read keeps it."""
    note = _note_now(vault, path)
    return note is not None and (note.id == note_id or not note.is_readable)


# --- recall


def recall_sources(caches: Caches, vault: Vault, overlay: Overlay, embedder: Embedder | None) -> Sources:
    """What recall reads: the signals that exist for this model now."""
    check = hint_check(caches.catalog, vault, overlay)
    memories = OverlaidMemories(caches.catalog, overlay)
    from vaultmem.sync import dense as filling  # what it takes to embed is no business of those who only read

    if embedder is None or caches.made_with(StoreName.DENSE) != filling.dense_rules(embedder):
        return Sources(memories, caches.lexical, check_hint=check)
    calibration = filling.kept_calibration(caches, embedder)
    meaning = Meaning(caches.dense, embedder.queries, calibration) if caches.dense and calibration else None
    return Sources(memories, caches.lexical, meaning, check)


def hint_check(catalog: Catalog, vault: Vault, overlay: Overlay) -> Callable[[NoteRow], NoteRow | None]:
    """A look at the file of a memory that is about to be shown: the row to show, or None when it may not be."""

    def check(row: NoteRow) -> NoteRow | None:
        stat = vault.stat(row.path)
        if stat is None:
            return None
        if stat == row.stat and row.is_readable:
            return row
        note = _note_now(vault, row.path)
        if note is None or not note.is_readable:
            return None
        seen = replace(overlay, changed={**overlay.changed, row.path: note}).apply(catalog, row)
        return seen if seen is not None and seen.id == row.id else None

    return check
