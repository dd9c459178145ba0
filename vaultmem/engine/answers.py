"""Answers from the caches: notes, diagnostics, where a memory is, what recall reads. Nothing is written.

The catalog is read through the overlay, so that a process that may not write answers no less truly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from vaultmem.embedding.embedder import Embedder
from vaultmem.engine.opened import note_now
from vaultmem.errors import ConflictError, NoteNotFoundError
from vaultmem.files.vault import Vault
from vaultmem.notes.diagnostics import Diagnostic, diagnose
from vaultmem.recall.answer import Recall
from vaultmem.recall.evidence import Meaning, Sources
from vaultmem.stores.access import Access
from vaultmem.stores.caches import Caches, StoreName
from vaultmem.stores.catalog import Catalog
from vaultmem.stores.catalog_rows import NoteRow
from vaultmem.sync.overlay import OverlaidMemories, Overlay
from vaultmem.text.moments import utc_text
from vaultmem.views import NoteView, OpenedMemory

# --- notes and diagnostics


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """Notes on record by path, and what is wrong with each."""

    rows: tuple[NoteRow, ...]
    diagnostics: Mapping[str, tuple[Diagnostic, ...]]


def diagnosed(catalog: Catalog, overlay: Overlay) -> Diagnosed:
    """Every note on record, as it would be after a sync."""
    rows = (overlay.apply(catalog, row) for row in catalog.rows())
    kept = tuple(row for row in rows if row is not None)
    return Diagnosed(kept, diagnose_rows(kept))


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


def note_views(found: Diagnosed) -> tuple[NoteView, ...]:
    """The notes as surfaces show them, by path."""
    return tuple(
        NoteView(
            metadata=row.metadata,
            path=row.path,
            admitted=row.is_admitted,
            indexed=row.is_indexed,
            diagnostics=tuple(diagnostic.code for diagnostic in found.diagnostics[row.path]),
            size=row.stat.size,
            mtime_ns=row.stat.mtime_ns,
            is_pending=row.is_pending,
        )
        for row in found.rows
    )


def tag_counts(rows: Iterable[NoteRow]) -> Mapping[str, int]:
    """How many notes carry each tag, most used first."""
    counts = Counter(tag for row in rows for tag in row.tags)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


# --- where a memory is


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


# --- how old the answers are


def as_of(access: Access, caches: Caches) -> str:
    """How old the caches are, in words, where this process may not write them; else empty."""
    if not access.is_read_only or access.is_writer:
        return ""
    scanned = caches.catalog.meta("last_scan_at")
    at = utc_text(datetime.fromtimestamp(float(scanned), UTC)) if scanned else "an unknown time"
    return f"the state folder {access.state_dir} may not be written: notes are indexed as of {at}"


# --- recall


def recall_sources(
    caches: Caches,
    vault: Vault,
    overlay: Overlay,
    embedder: Embedder | None,
    without: Collection[str] = (),
    as_of: str = "",
) -> Sources:
    """What recall reads: the signals that exist for this model now, `without` the stores that cannot be read.

    `as_of` says how old the caches are, where that is worth saying.
    """
    check = hint_check(caches.catalog, vault, overlay)
    memories = OverlaidMemories(caches.catalog, overlay)
    meaning = None if StoreName.DENSE in without else _meaning(caches, embedder)
    lexical = None if StoreName.LEXICAL in without else caches.lexical
    missing = _missing(
        caches.catalog, without, wants_meaning=embedder is not None, has_meaning=meaning is not None
    )
    return Sources(memories, lexical, meaning, check, "; ".join(filter(None, (as_of, missing))))


def _meaning(caches: Caches, embedder: Embedder | None) -> Meaning | None:
    # Late: what it takes to embed is no business of those who only read.
    from vaultmem.sync.dense import dense_rules, kept_calibration

    if embedder is None or caches.made_with(StoreName.DENSE) != dense_rules(embedder):
        return None
    calibration = kept_calibration(caches, embedder)
    return Meaning(caches.dense, embedder.queries, calibration) if caches.dense and calibration else None


def _missing(catalog: Catalog, without: Collection[str], *, wants_meaning: bool, has_meaning: bool) -> str:
    """What an answer lacks that a whole one would have, in a line for people."""
    said = [f"the {store} store cannot be read; run `vaultmem sync`" for store in sorted(without)]
    if unindexed := catalog.unindexed_count():
        said.append(f"notes that are not indexed yet: {unindexed}")
    if wants_meaning and not has_meaning and StoreName.DENSE not in without:
        said.append("recall uses words alone until vectors are filled in: run `vaultmem sync`")
    elif has_meaning and (pending := catalog.pending_count()):
        said.append(f"notes without vectors yet, found by words alone: {pending}")
    return "; ".join(said)


def hint_check(catalog: Catalog, vault: Vault, overlay: Overlay) -> Callable[[NoteRow], NoteRow | None]:
    """A look at the file of a memory that is about to be shown: the row to show, or None when it may not be."""

    def check(row: NoteRow) -> NoteRow | None:
        stat = vault.stat(row.path)
        if stat is None:
            return None
        if stat == row.stat and row.is_readable:
            return row
        note = note_now(vault, row.path)
        if note is None or not note.is_readable:
            return None
        seen = replace(overlay, changed={**overlay.changed, row.path: note}).apply(catalog, row)
        return seen if seen is not None and seen.id == row.id else None

    return check


# --- memories that say the same

SIMILAR_SCORE = 0.85
"""A memory that scores this much for a new one's name and description says nearly the same."""

SIMILAR_LIKENESS = 1.05
"""So does one whose name and description are this much alike, in whatever language: doubles across Chinese and English
had 1.07 to 1.66, different memories up to 0.96."""

SIMILAR_BY_WORDS = 0.6
"""The same where there are no vectors: an identical memory scores about 0.7 by words alone."""


def similar_ids(found: Recall, memory: OpenedMemory) -> tuple[str, ...]:
    """Ids of other memories that say nearly the same, by what a recall of a memory's name and description found."""
    bar = SIMILAR_BY_WORDS if found.mode == "lexical" else SIMILAR_SCORE
    return tuple(
        near.id
        for near in found.candidates
        if near.verdict == "hinted"
        and near.id != memory.id
        and (near.score >= bar or (near.signals.dense_metadata or 0.0) >= SIMILAR_LIKENESS)
    )
