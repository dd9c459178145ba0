"""The engine: opens the caches, holds the lock, and is the one place that changes anything. Surfaces ask it.

One process writes at a time. With `hold` the engine keeps the writer's lock for as long as it is open, or waits for
it in the background; without, it takes the lock for each sync. Reading never needs the lock.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from vaultmem import answers, authoring, integrity, journal
from vaultmem.access import Access
from vaultmem.caches import Caches, StoreName
from vaultmem.config import Config
from vaultmem.diagnostics import diagnose_root
from vaultmem.editor import Editor
from vaultmem.embed import Embedder, EngineChosen, describe_choice, open_embedder
from vaultmem.errors import (
    ConflictError,
    EngineError,
    NoteNotFoundError,
    RootMissingError,
    StoreError,
    WriterBusyError,
)
from vaultmem.events import EngineFailed, Event, Filled, NoteEdited, Progress, SyncFinished, SyncReport
from vaultmem.hub import Hub, utc_now
from vaultmem.notes import Status
from vaultmem.overlay import Overlay, look
from vaultmem.stores.catalog import NoteRow
from vaultmem.stores.vectors import VECTORS_KEPT_S
from vaultmem.vault import FileStat, Vault
from vaultmem.views import (
    DoctorReport,
    Edited,
    EngineStatus,
    Freshness,
    NoteCopy,
    NoteView,
    OpenedMemory,
    Saved,
    SearchResult,
    Trashed,
)

if TYPE_CHECKING:
    from vaultmem.background import Background
    from vaultmem.diagnostics import Diagnostic
    from vaultmem.recall import Recall
    from vaultmem.sync import Outcome

QUICK_LOOK_S = 0.2
"""How long the look at the files before an answer may read notes."""

UNSETTLED_WAIT_S = 0.4
"""When a foreground sync looks again at a note that seems half-written."""

NS_PER_S = 1_000_000_000

WRITER_CATCHES_UP_S = 2.0
"""How long a save waits for another writer to index it."""

SIMILAR_BY_WORDS = 0.6
"""The same where there are no vectors: an identical memory scores about 0.7 by words alone."""

SIMILAR_SCORE = 0.85
"""A memory that scores this much for a new one's name and description says nearly the same."""


class Engine:
    """A memory root and its caches. Make one with `Engine.open`; it is a context manager, safe to use from threads."""

    def __init__(
        self, config: Config, embedder: Embedder | None, chosen: EngineChosen, *, hold: bool
    ) -> None:
        self.config = config
        self.vault = Vault(config.root)
        self.embedder = embedder
        self.chosen = chosen
        self.access = Access(config.state_dir, hold=hold)
        self.hub = Hub()
        self._filling = threading.Lock()
        self._overlay = Overlay()
        self._looked_at: float | None = None
        self._has_swept = False
        self._kept: tuple[object, list[NoteRow], Mapping[str, tuple[Diagnostic, ...]]] | None = None
        self._editor = Editor(
            self.vault,
            path_of=lambda note_id: self.open_memory(note_id).path,
            paths_with_id=self._paths_with_id,
            follow=self._after_write,
        )
        self.background: Background | None = None

    @classmethod
    def open(
        cls,
        root: str | Path | None = None,
        state_dir: str | Path | None = None,
        embedder: str | Embedder | None = None,
        *,
        hold: bool = False,
        watch: bool = False,
        config: Config | None = None,
    ) -> Self:
        """Open the engine on a memory root; nothing is scanned or loaded yet.

        `embedder` is a choice (auto, bundled, sentence-transformers, none) or an Embedder. `hold` keeps the writer's
        lock; `watch` follows changes and embeds in the background. A `config` takes the place of the settings, and of
        `root` and `state_dir`. Raises ConfigError, EmbedderError.
        """
        choice = embedder if isinstance(embedder, str) else None
        if config is None:
            config = Config.load(root=root, state_dir=state_dir, embedder=choice)
        elif choice is not None:
            config = config.with_engine(choice)
        if embedder is not None and not isinstance(embedder, str):
            chosen = EngineChosen(embedder.engine, embedder.model, "given by the caller")
            opened: Embedder | None = embedder
        else:
            chosen = describe_choice(config.engine, config.model)
            opened = open_embedder(
                config.engine,
                model=config.model,
                query_prompt=config.query_prompt,
                passage_prompt=config.passage_prompt,
                threads=config.threads,
            )
        engine = cls(config, opened, chosen, hold=hold)
        if hold:
            engine.access.try_become_writer()
        if watch:
            engine.follow()
        return engine

    def follow(self) -> None:
        """Follow changes and embed in the background until `close`; whoever subscribed before misses nothing."""
        if self.background is None:
            from vaultmem.background import Background

            self.background = Background(self)
            self.background.start()

    def close(self) -> None:
        """Stop the background, close the caches, release the lock."""
        if self.background is not None:
            self.background.stop()
            self.background = None
        self.access.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- sync

    def sync(
        self,
        *,
        embed: bool = True,
        full: bool = False,
        paths: Iterable[str] | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> SyncReport:
        """One pass to completion: look, plan, apply, and with `embed` fill in vectors.

        `full` hashes every file; `paths` (relative to the root) limits the look. Raises RootMissingError,
        WriterBusyError, StoreError, EmbedderError.
        """
        started = time.perf_counter()
        with self.access.holding():
            with self.access.writer() as caches:
                outcome = self.sync_lexical(caches, paths, full=full, progress=progress)
                if outcome.unsettled:
                    outcome = self._look_twice(caches, outcome)
            filled = self.fill(progress=progress) if embed else Filled()
            with self.access.writer() as caches:
                self.maintain(caches, changed=outcome.report.changed + filled.notes)
                report = self.complete(caches, outcome.report, filled, time.perf_counter() - started)
                if report.changed or report.chunks_embedded:
                    self.tell(SyncFinished(utc_now(), report), caches)
        return report

    def sync_lexical(
        self,
        caches: Caches,
        paths: Iterable[str] | None = None,
        *,
        full: bool = False,
        deadline: float | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Outcome:
        """Bring the catalog and the lexical store up to date; a broken store is rebuilt on the way."""
        from vaultmem.sync import sync  # what only looks does without

        try:
            outcome = sync(
                caches, self.vault, scope=paths, full=full, deadline=deadline, on_progress=progress
            )
        except StoreError:
            integrity.mend(caches)
            outcome = sync(caches, self.vault, deadline=deadline, on_progress=progress)
        if paths is None:
            self._looked_at, self._overlay = time.monotonic(), Overlay()
        return outcome

    def _look_twice(self, caches: Caches, first: Outcome) -> Outcome:
        """Look again at notes that seemed half-written; whoever asked for this sync waits for the truth."""
        from vaultmem.sync import sync

        time.sleep(UNSETTLED_WAIT_S)
        again = sync(
            caches, self.vault, scope=first.unsettled, settle_ns=int(UNSETTLED_WAIT_S * NS_PER_S)
        ).report
        counts = {
            name: getattr(first.report, name) + getattr(again, name)
            for name in ("added", "updated", "moved", "deleted")
        }
        paths = tuple(sorted({*first.report.paths, *again.paths}))
        return replace(first, report=replace(first.report, paths=paths, **counts))

    def fill(
        self,
        *,
        should_stop: Callable[[], bool] = lambda: False,
        progress: Callable[[Progress], None] | None = None,
    ) -> Filled:
        """Embed what is pending; one thread at a time. The caller's process holds the lock, but no turn of `writer`:
        another thread that is embedding needs it to come to its end.
        """
        if self.embedder is None:
            return Filled()
        from vaultmem.filling import fill_all

        with self._filling:
            return fill_all(
                self.access.writer, self.vault, self.embedder, should_stop=should_stop, on_progress=progress
            )

    def complete(
        self,
        caches: Caches,
        report: SyncReport | None,
        filled: Filled | None = None,
        total_s: float | None = None,
    ) -> SyncReport:
        """A report with the counts as they are now, and what was embedded."""
        counts = caches.catalog.counts()
        report, filled = report or SyncReport(), filled or Filled()
        total = report.seconds.total if total_s is None else total_s
        return replace(
            report,
            admitted=counts.admitted,
            unreadable=counts.unreadable,
            embeddings_pending=counts.pending if self.embedder is not None else 0,
            chunks_embedded=filled.chunks_embedded,
            chunks_reused=filled.chunks_reused,
            seconds=replace(report.seconds, dense=total - report.seconds.total, total=total),
        )

    def maintain(self, caches: Caches, *, changed: int = 0, force: bool = False) -> None:
        """Keep the stores' disk use bounded; most calls find nothing to do."""
        if not (changed or force):
            return
        caches.sweep_folders()
        if force or not self._has_swept:  # a walk of the whole root: once is enough
            self.vault.sweep_leftovers()
            self._has_swept = True
        for store in (caches.lexical, caches.dense):
            if store is not None:
                store.maintain(force=force)
        if caches.vectors is not None:
            caches.vectors.prune(time.time() - VECTORS_KEPT_S)

    def reindex(self, *, progress: Callable[[Progress], None] | None = None) -> SyncReport:
        """Build both stores again beside the live ones; vectors are reused by text."""
        with self.access.holding():
            with self.access.writer() as caches:
                for store in StoreName:
                    caches.outdate(store)
            return self.sync(progress=progress)

    # --- asking

    def freshen(self) -> None:
        """Look at the files unless that was done a moment ago: sync lexically if possible, else remember what differs.

        Raises RootMissingError; a root that is away leaves the caches as they are.
        """
        now = time.monotonic()
        if self._looked_at is not None and now - self._looked_at < self.config.dirty_check_s:
            return
        deadline = now + QUICK_LOOK_S
        try:
            with self.access.reader() as caches:
                is_usable = caches.generation(StoreName.LEXICAL) > 0
                if is_usable and self._is_being_scanned():
                    return
                overlay = look(caches.catalog, self.vault, deadline)
        except StoreError:
            overlay, is_usable = Overlay(), False
        if (overlay.has_work or not is_usable) and self._sync_quickly(is_usable):
            overlay = Overlay()
        self._looked_at, self._overlay = now, overlay

    def _is_being_scanned(self) -> bool:
        """This engine's own background looks at everything right now, and will tell what differs."""
        return self.background is not None and self.is_writer and self.background.state == "scanning"

    def _sync_quickly(self, is_usable: bool) -> bool:
        """Sync lexically before an answer, if nobody else is at it; whether it was done.

        Caches that answer but cannot be written are told of and go on answering; without any it takes its time.
        """
        deadline = time.monotonic() + QUICK_LOOK_S if is_usable else None
        try:
            with self.access.writer(timeout_s=0.0) as caches:
                report = self.sync_lexical(caches, deadline=deadline).report
                if report.changed:
                    self.tell(SyncFinished(utc_now(), self.complete(caches, report)), caches)
        except WriterBusyError:
            return False
        except StoreError as error:
            if not is_usable:
                raise
            self.tell(EngineFailed(utc_now(), str(error), error.advice))
            return False
        if report.changed and self.background is not None:
            self.background.wake()
        return True

    @property
    def is_writer(self) -> bool:
        """This process holds the writer's lock."""
        return self.access.is_writer

    @property
    def freshness(self) -> Freshness:
        """How current the answers are."""
        with self.access.reader() as caches:
            scanned = caches.catalog.meta("last_scan_at")
        at = datetime.fromtimestamp(float(scanned), UTC) if scanned else None
        return Freshness(at, self._overlay.count, self.access.writer_pid)

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        min_score: float | None = None,
        project: str | None = None,
        suppressed: Collection[str] = (),
    ) -> Recall:
        """The hints a query gets, and every candidate with its signals. Records nothing.

        Raises RootMissingError, StoreError.
        """
        from vaultmem.recall import recall

        self.freshen()
        for attempt in (1, 2):
            try:
                with self.access.reader() as caches:
                    return recall(
                        query,
                        answers.recall_sources(caches, self.vault, self._overlay, self.embedder),
                        limit=self.config.hint_limit if limit is None else limit,
                        min_score=self.config.min_score if min_score is None else min_score,
                        project=project,
                        suppressed=suppressed,
                        now=utc_now(),
                    )
            except StoreError:
                if attempt == 2:
                    raise
                self._mend_unreadable_store()
        raise AssertionError("unreachable")

    def _mend_unreadable_store(self) -> None:
        """A store that cannot be read is rebuilt, when this process may; the reader's handles are opened again."""
        self.access.drop_reader()
        try:
            with self.access.writer(timeout_s=0.0) as caches:
                for store in integrity.unreadable_stores(caches):
                    caches.condemn(store)
                self.sync_lexical(caches)
        except WriterBusyError:
            pass

    def notes(self) -> tuple[NoteView, ...]:
        """Every note on record, by path."""
        return answers.note_views(*self._diagnosed())

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the notes, by path. A root that is missing is the only diagnostic there is then."""
        try:
            _, diagnosed = self._diagnosed()
        except RootMissingError as error:
            return (diagnose_root(self.config.root, str(error)),)
        return tuple(d for found in diagnosed.values() for d in found)

    def tags(self) -> Mapping[str, int]:
        """How many notes carry each tag, most used first."""
        return answers.tag_counts(self._rows())

    def _diagnosed(self) -> tuple[list[NoteRow], Mapping[str, tuple[Diagnostic, ...]]]:
        """Every note with its diagnostics, remembered until something is committed or differs on disk."""
        self.freshen()
        with self.access.reader() as caches:
            key = caches.catalog, caches.catalog.state_of_data, self._overlay
            kept = self._kept
            if kept is None or kept[0] != key:
                rows = answers.current_rows(caches.catalog, self._overlay)
                kept = self._kept = key, rows, answers.diagnose_rows(rows)
        return kept[1], kept[2]

    def _rows(self) -> list[NoteRow]:
        self.freshen()
        with self.access.reader() as caches:
            return answers.current_rows(caches.catalog, self._overlay)

    def open_memory(self, id: str) -> OpenedMemory:
        """A memory's Markdown, whole, as it is on disk now.

        Raises NoteNotFoundError, ConflictError (with the paths), RefusedError when it cannot be read.
        """
        self.freshen()
        try:
            return self._read_by_id(id)
        except (NoteNotFoundError, ConflictError):  # perhaps written, moved or edited since the last look
            self.look_again()
            return self._read_by_id(id)

    def _read_by_id(self, note_id: str) -> OpenedMemory:
        """The memory where the last look saw it; the file must still have the id."""
        path = self._locate(note_id)
        memory = answers.read_memory(self.vault, path)
        if memory.id != note_id.strip():
            raise NoteNotFoundError(f"{path} no longer has the id {note_id!r}")
        return memory

    def _locate(self, note_id: str) -> str:
        with self.access.reader() as caches:
            return answers.locate(caches.catalog, self._overlay, note_id)

    def look_again(self) -> None:
        """Look at the files now, however short ago that was done."""
        self._looked_at = None
        self.freshen()

    def read_note(self, path: str) -> OpenedMemory:
        """Any note, by its path, as it is on disk now. Raises NoteNotFoundError, RefusedError."""
        return answers.read_memory(self.vault, path)

    def copies(self, id: str) -> tuple[NoteCopy, ...]:
        """The notes that carry this id, with what tells them apart."""
        self.freshen()
        return answers.copies(self.vault, self._paths_with_id(id.strip()))

    def search(
        self, pattern: str, *, limit: int = 20, fixed: bool = False, include_all: bool = False
    ) -> SearchResult:
        """Text search over the notes as they are on disk now; active, unconflicted ones unless `include_all`.

        Raises UsageError for a pattern that cannot be searched.
        """
        self.freshen()
        with self.access.reader() as caches:
            return answers.search(
                caches.catalog,
                self._overlay,
                self.vault,
                pattern,
                limit=limit,
                fixed=fixed,
                include_all=include_all,
            )

    def status(self) -> EngineStatus:
        """What the caches hold and who writes. Looks at no note."""
        from vaultmem.health import status

        return status(self)

    def doctor(self, *, repair: bool = False) -> DoctorReport:
        """The notes' health and the caches' integrity; `repair` rebuilds what disagrees and checks again."""
        from vaultmem.health import doctor

        return doctor(self, repair=repair)

    def activity(self) -> tuple[Event, ...]:
        """What the engine did lately, in whatever process, newest last."""
        try:
            with self.access.reader() as caches:
                return journal.read(caches.catalog)
        except StoreError:
            return ()

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call `callback` with each event from now on, in the engine's threads; returns the way to end that."""
        return self.hub.subscribe(callback)

    def tell(self, event: Event, caches: Caches | None = None) -> None:
        """Tell subscribers; with `caches` also record it in the journal."""
        if caches is not None:
            journal.write(caches.catalog, event)
        self.hub.tell(event)

    def _paths_with_id(self, note_id: str) -> tuple[str, ...]:
        with self.access.reader() as caches:
            return self._overlay.paths_with_id(caches.catalog, note_id)

    # --- editing: what each method may raise is said in `editor`

    def edit_tags(
        self,
        id: str | None,
        *,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        set: Iterable[str] | None = None,
        path: str | None = None,
        dry_run: bool = False,
    ) -> Edited:
        """Change the tags entry of one note and nothing else; `path` chooses among notes with one id."""
        change = authoring.tags_change(add, remove, set)
        return self._editor.edit(id, path, change, "tags", dry_run=dry_run)

    def edit_description(
        self, id: str | None, text: str, *, path: str | None = None, dry_run: bool = False
    ) -> Edited:
        """Change the description entry and nothing else."""
        change = authoring.description_change(text)
        return self._editor.edit(id, path, change, "description", dry_run=dry_run)

    def set_status(
        self, id: str | None, status: Status, *, path: str | None = None, dry_run: bool = False
    ) -> Edited:
        """Change the status entry and nothing else."""
        change = authoring.status_change(status)
        return self._editor.edit(id, path, change, "status", dry_run=dry_run)

    def adopt(self, path: str, *, dry_run: bool = False) -> Edited:
        """Give a note without an id, or one of several with the same id, a fresh one."""
        self.look_again()
        return self._editor.adopt(path, dry_run=dry_run)

    def rename_tag(self, old: str, new: str, *, dry_run: bool = False) -> tuple[Edited, ...]:
        """Rename a tag and its children in every note that has them, or merge it with another."""
        return self._editor.rename_tag(self._rows(), old, new, dry_run=dry_run)

    def apply(self, edited: Edited, what: str) -> None:
        """Write exactly what a dry run showed, while the note is still the one that it was shown for."""
        self._editor.apply(edited, what)

    def undo(self, edited: Edited) -> None:
        """Put back the bytes from before an edit, while the note still holds what the edit left."""
        self._editor.undo(edited)

    def suggest_description(self, path: str) -> str:
        """The first sentence of a note's body, as a proposal; empty when there is none."""
        return authoring.suggested_description(self.vault.read_note(path)[0])

    def trash(self, path: str, *, dry_run: bool = False) -> Trashed:
        """Move a note to the `.trash` of its Obsidian vault."""
        return self._editor.trash(path, dry_run=dry_run)

    def restore(self, trashed: Trashed) -> None:
        """Move a note back from the trash."""
        self._editor.restore(trashed)

    def save(
        self,
        *,
        id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        tags: Iterable[str] | None = None,
        body: str | None = None,
        dry_run: bool = False,
    ) -> Saved:
        """Write a new memory, or with `id` change the given fields of one; what is not given stays."""
        fields = authoring.checked_fields(name, description, tags)
        return self._editor.save(id, fields, body, similar=self._similar, dry_run=dry_run)

    def _similar(self, memory: OpenedMemory) -> tuple[str, ...]:
        """Ids of other memories that say nearly the same."""
        try:
            found = self.recall(f"{memory.name}\n{memory.description}", limit=5, min_score=SIMILAR_BY_WORDS)
        except (RootMissingError, StoreError):
            return ()
        bar = SIMILAR_BY_WORDS if found.mode == "lexical" else SIMILAR_SCORE
        return tuple(hint.id for hint in found.hints if hint.id != memory.id and hint.score >= bar)

    def _after_write(self, path: str, what: str) -> None:
        """Let the caches follow at once, here or in the process that writes them.

        The note is written: caches that cannot follow now are told of, and follow at the next look.
        """
        self._looked_at = None
        try:
            with self.access.writer(timeout_s=0.0) as caches:
                self.sync_lexical(caches, [path])
                self.tell(NoteEdited(utc_now(), path, what), caches)
            if self.background is not None:
                self.background.wake()
        except WriterBusyError:
            self._await_writer(path)
            self.tell(NoteEdited(utc_now(), path, what))
        except EngineError as error:
            self.tell(NoteEdited(utc_now(), path, what))
            self.tell(EngineFailed(utc_now(), str(error), error.advice))

    def _await_writer(self, path: str) -> None:
        """Wait until the writing process has seen the file as it is now; without patience beyond a moment."""
        wanted = self.vault.stat(path)
        deadline = time.monotonic() + WRITER_CATCHES_UP_S
        while time.monotonic() < deadline and not self._is_on_record(path, wanted):
            time.sleep(0.02)

    def _is_on_record(self, path: str, stat: FileStat | None) -> bool:
        try:
            with self.access.reader() as caches:
                known = caches.catalog.known([path]).get(path)
        except StoreError:  # the writer is only just making them
            return False
        if known is None or stat is None:
            return known is None and stat is None
        return known.stat == stat and not known.needs_indexing
