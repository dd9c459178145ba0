"""Sync: make the catalog and the lexical store agree with the files. Vectors follow in `dense`.

Read top to bottom: look (stat only), read what differs, plan, apply. Safe to be killed anywhere: a store's rows count
only once the catalog vouches for them, and an interrupted sync is finished, leftovers swept, by the next one.
The caller holds the writer's lock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from vaultmem.errors import StoreError
from vaultmem.events import Phase, Progress, SyncReport, SyncSeconds
from vaultmem.files.snapshot import NO_FILE, Snapshot
from vaultmem.files.vault import Reading, Vault
from vaultmem.notes.chunks import CHUNKER, metadata_text, split_body, text_hash
from vaultmem.notes.parse import Note
from vaultmem.stores.caches import Caches, StoreName
from vaultmem.stores.catalog_rows import ChunkRef, Known, NoteRecord
from vaultmem.stores.folders import in_parts
from vaultmem.stores.lexical import LexicalStore
from vaultmem.stores.lexical_documents import LexicalDoc
from vaultmem.sync import integrity
from vaultmem.sync.plan import (
    SETTLE_NS,
    Differences,
    Plan,
    Step,
    find_differences,
    hold_back_half_written,
    plan_steps,
)
from vaultmem.text.terms import TERMS, document_terms

PARSER = "notes-3"
"""Raise it when the reading of a note's fields changes: every note is then read again."""

NAMED_PATHS = 1_000
NOTES_PER_COMMIT = 2_000

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a sync did, and which paths want a second look in a moment."""

    report: SyncReport
    unsettled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A note on its way into the caches."""

    record: NoteRecord
    doc_terms: Mapping[str, int] | None
    """None when the note has no usable id and so belongs in no store."""


def sync(
    caches: Caches,
    vault: Vault,
    *,
    scope: Iterable[str] | None = None,
    full: bool = False,
    deadline: float | None = None,
    settle_ns: int = SETTLE_NS,
    on_progress: OnProgress | None = None,
) -> Outcome:
    """Bring catalog and lexical store up to date with `scope` (paths relative to the root; None is everything).

    `full` distrusts stat values and hashes every file. Past `deadline` (of time.monotonic) no further note is read:
    what was not read stays different and is found again by the next sync. `settle_ns` is how long ago a file must
    have been written for its being wrong to be believed.

    Raises:
        RootMissingError: the root is gone, cannot be listed, or another folder lies in its place.
        UsageError: the caches are those of another memory root.
        StoreError: the caches cannot be written.
    """
    started = time.perf_counter()
    integrity.refuse_foreign_caches(caches, vault)
    must_rebuild = integrity.prepare(caches, lexical_rules=TERMS, note_rules=f"{PARSER} {CHUNKER}")
    if must_rebuild or not integrity.is_root_on_record(caches.catalog, vault):
        scope = None
    snapshot, known = _look(caches, vault, scope, full=full, on_progress=on_progress)
    differences = find_differences(snapshot, known, full=full or must_rebuild)
    scanned = time.perf_counter()
    readings, skipped = _read(vault, snapshot, differences, deadline, on_progress)
    plan = plan_steps(differences, readings, known)
    if skipped:  # what vanished may have moved to where nobody has looked yet
        plan = replace(plan, deleted=())
    plan, unsettled = hold_back_half_written(plan, time.time_ns(), settle_ns)
    planned = time.perf_counter()
    if must_rebuild:
        _apply_with_new_lexical(caches, plan, readings, known, on_progress)
    elif not plan.is_empty:
        _apply(caches, plan, on_progress)
    if scope is None and not skipped:
        _note_scan(caches, vault)
    ended = time.perf_counter()
    report = SyncReport(
        scanned=len(snapshot.files) + len(set(snapshot.placeholders) - snapshot.files.keys()),
        unchanged=plan.unchanged + len(plan.touched),
        added=len(plan.added),
        updated=len(plan.updated),
        moved=len(plan.moved),
        deleted=len(plan.deleted),
        unreadable=len(plan.unknown),
        seconds=SyncSeconds(
            scan=scanned - started, plan=planned - scanned, lexical=ended - planned, total=ended - started
        ),
        paths=_named(plan),
    )
    return Outcome(report, unsettled)


def _look(
    caches: Caches, vault: Vault, scope: Iterable[str] | None, *, full: bool, on_progress: OnProgress | None
) -> tuple[Snapshot, dict[str, Known]]:
    paths = None if scope is None else sorted(set(scope))
    if on_progress:
        on_progress(Progress(Phase.SCANNING, 0, 0))
    snapshot = vault.scan(paths)
    known = caches.catalog.known(paths)
    if not full:
        integrity.refuse_replaced_root(caches.catalog, vault, snapshot, known)
    return snapshot, known


def _note_scan(caches: Caches, vault: Vault) -> None:
    now = f"{time.time():.3f}"
    with caches.catalog.transaction():
        caches.catalog.set_meta("last_scan_at", now)
        for name, value in (("root_identity", vault.identity()), ("root_path", str(vault.root))):
            if caches.catalog.meta(name) != value:
                caches.catalog.set_meta(name, value)


def _read(
    vault: Vault,
    snapshot: Snapshot,
    differences: Differences,
    deadline: float | None,
    on_progress: OnProgress | None,
) -> tuple[list[Reading], int]:
    """Every note that differs, as far as the time goes; and how many were not read."""
    readings, total = list[Reading](), len(differences.to_read)
    for number, path in enumerate(differences.to_read):
        if deadline is not None and time.monotonic() > deadline:
            return readings, total - number
        if on_progress and number % 50 == 0:
            on_progress(Progress(Phase.READING, number, total))
        reading = vault.note_at(path, snapshot.files.get(path, NO_FILE))
        if reading is not None:
            readings.append(reading)
    return readings, 0


def _named(plan: Plan) -> tuple[str, ...]:
    paths = [step.reading.note.path for step in plan.written] + [gone.path for gone in plan.deleted]
    return tuple(sorted(paths)[:NAMED_PATHS])


# --- applying


def prepare_note(step: Step) -> Prepared:
    """What the caches will say of a note."""
    note, known = step.reading.note, step.known
    record = NoteRecord(
        note_key=known.note_key if known else None,
        note=note,
        stat=step.reading.stat,
        chunks=chunk_refs(note) if note.id else (),
    )
    terms = document_terms(note.name, note.description, note.tags, note.body) if note.id else None
    return Prepared(record, terms)


def chunk_refs(note: Note) -> tuple[ChunkRef, ...]:
    """The texts of a note that get a vector, by hash."""
    metadata = ChunkRef("metadata", 0, text_hash(metadata_text(note.name, note.description, note.tags)))
    body = split_body(note.body, note.body_line)
    return metadata, *(ChunkRef("body", chunk.ordinal, chunk.text_hash) for chunk in body)


def _apply(caches: Caches, plan: Plan, on_progress: OnProgress | None) -> None:
    """Rows first, then the lexical documents, then the digests that vouch for them, then the old documents."""
    lexical = caches.lexical
    if lexical is None:
        raise StoreError("the lexical store is not there", advice="Run `vaultmem doctor --repair`.")
    with integrity.changing(caches):
        _write_rows(caches, plan)
        gone = {known.note_key for known in plan.deleted}
        done, total = 0, len(plan.written)
        for batch in in_parts(plan.written, NOTES_PER_COMMIT):
            gone |= _apply_batch(caches, lexical, batch)
            done += len(batch)
            if on_progress:
                on_progress(Progress(Phase.INDEXING, done, total))
        _forget(caches, lexical, gone)


def _apply_batch(caches: Caches, lexical: LexicalStore, batch: Sequence[Step]) -> set[int]:
    """Index the notes of these steps; the keys of notes that lost their id."""
    prepared = [prepare_note(step) for step in batch]
    with caches.catalog.transaction():
        keys = caches.catalog.write(p.record for p in prepared)
    held = [step.known.lexical_digest if step.known else None for step in batch]
    docs = _documents(keys, prepared)
    fresh = [doc for doc, old in zip(docs, held, strict=True) if doc is not None and doc.digest != old]
    lost = {key for key, doc in zip(keys, docs, strict=True) if doc is None}
    lexical.add(fresh)
    with caches.catalog.transaction():
        caches.catalog.set_digests(StoreName.LEXICAL, {doc.note_key: doc.digest for doc in fresh})
        for store in StoreName:
            caches.catalog.set_digests(store, dict.fromkeys(lost))
    replaced = zip(keys, docs, held, strict=True)
    lexical.delete(
        [(key, old) for key, doc, old in replaced if doc and old is not None and old != doc.digest]
    )
    return lost


def _write_rows(caches: Caches, plan: Plan) -> None:
    """What needs no store: deletions, stat values, and what cannot be read."""
    catalog = caches.catalog
    with catalog.transaction():
        catalog.delete([known.note_key for known in plan.deleted])
        catalog.touch({step.known.note_key: step.reading.stat for step in plan.touched if step.known})
        for step in plan.unknown:
            if step.known is None:
                catalog.write([prepare_note(step).record])
            else:
                catalog.mark_unknown(step.known.note_key, step.reading.stat, step.reading.note.problems)


def _forget(caches: Caches, lexical: LexicalStore, note_keys: set[int]) -> None:
    """Take the rows of notes that are gone, or lost their id, out of both stores."""
    if not note_keys:
        return
    lexical.delete_keys(note_keys)
    dense = caches.dense
    if dense is not None:
        dense.delete_keys(note_keys)


def _documents(keys: Sequence[int], prepared: Sequence[Prepared]) -> list[LexicalDoc | None]:
    """A document for each note, or None for one that belongs in no store."""
    return [
        None if item.doc_terms is None else LexicalDoc(key, item.record.note.digest, item.doc_terms)
        for key, item in zip(keys, prepared, strict=True)
    ]


def _apply_with_new_lexical(
    caches: Caches,
    plan: Plan,
    readings: Sequence[Reading],
    known: dict[str, Known],
    on_progress: OnProgress | None,
) -> None:
    """Fill the next lexical generation with every note that was read, and switch to it last."""
    planned = {step.reading.note.path: step for step in plan.written}
    held = {step.reading.note.path for step in plan.unknown}
    steps = [
        planned.get(r.note.path) or Step(known.get(r.note.path), r)
        for r in readings
        if r.note.path not in held
    ]
    with integrity.changing(caches):
        _write_rows(caches, plan)
        _fill_next_lexical(caches, steps, on_progress)
        integrity.rules_applied(caches, f"{PARSER} {CHUNKER}")
        integrity.sweep(caches)


def _fill_next_lexical(caches: Caches, steps: Sequence[Step], on_progress: OnProgress | None) -> None:
    versions: dict[int, str] = {}
    with caches.next_lexical(TERMS) as (store, generation):
        for batch in in_parts(steps, NOTES_PER_COMMIT):
            prepared = [prepare_note(step) for step in batch]
            with caches.catalog.transaction():
                keys = caches.catalog.write(p.record for p in prepared)
            docs = [doc for doc in _documents(keys, prepared) if doc is not None]
            store.add(docs)
            versions |= {doc.note_key: doc.digest for doc in docs}
            if on_progress:
                on_progress(Progress(Phase.INDEXING, len(versions), len(steps)))
        with caches.catalog.transaction():
            generation.switch(versions)
