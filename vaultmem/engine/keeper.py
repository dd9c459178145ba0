"""Keeping the caches in step with the files: what every sync, edit and look before an answer does, in whatever thread.

A writer brings the caches up to date. Who cannot write remembers what differs, as an overlay on the answers.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from vaultmem.embedding.embedder import Embedder
from vaultmem.engine.answers import as_of
from vaultmem.engine.subscribers import Subscribers
from vaultmem.errors import EngineError, StoreError, WriterBusyError
from vaultmem.events import EngineFailed, Filled, NoteEdited, Progress, SyncFinished, SyncReport
from vaultmem.files.snapshot import FileStat
from vaultmem.files.vault import Vault
from vaultmem.stores.access import Access
from vaultmem.stores.caches import Caches, StoreName
from vaultmem.stores.vectors import VECTORS_KEPT_S
from vaultmem.sync import integrity
from vaultmem.sync.overlay import Overlay, look
from vaultmem.text.moments import utc_now

if TYPE_CHECKING:
    from vaultmem.sync.lexical import Outcome

QUICK_LOOK_S = 0.2
"""How long the look at the files before an answer may read notes."""

UNSETTLED_WAIT_S = 0.4
"""When a foreground sync looks again at a note that seems half-written."""

SWEEP_EVERY_S = 600.0
"""How often a process looks for what killed writes left behind, while things change."""

NS_PER_S = 1_000_000_000

MANY_CHANGES = 200
"""So many notes at once are a reason to look whether the stores want care, whatever their folders look like."""

AS_OF_ADVICE = "Whoever may write it runs `vaultmem sync`; or choose another: --state-dir."

MENDED_ADVICE = "Nothing is to be done. If it comes again, look at the disk."

WRITER_CATCHES_UP_S = 2.0
"""How long a save waits for another writer to index it."""


class Keeper:
    """Keeps the caches of one memory root in step with its files. Safe to use from threads.

    `wake` is called when there may be something to embed; `is_scanning` says that this process looks at everything
    right now, and will tell what differs.
    """

    def __init__(
        self,
        vault: Vault,
        access: Access,
        embedder: Embedder | None,
        subscribers: Subscribers,
        *,
        wake: Callable[[], None],
        is_scanning: Callable[[], bool],
        dirty_check_s: float,
    ) -> None:
        self.overlay = Overlay()
        """What differed from the caches at the last look, and could not be written."""
        self.as_of = ""
        """How old the caches are, in words, where this process may not write them; else empty."""
        self._vault, self._access, self._embedder = vault, access, embedder
        self._subscribers, self._wake, self._is_scanning = subscribers, wake, is_scanning
        self._dirty_check_s = dirty_check_s
        self._filling = threading.Lock()
        self._looked_at: float | None = None
        self._swept_at: float | None = None

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
        with self._access.holding():
            with self._access.writer() as caches:
                caches.check_vectors()
                outcome = self.sync_lexical(caches, paths, full=full, progress=progress)
                if outcome.unsettled:
                    outcome = self._look_twice(caches, outcome)
            filled = self.fill(progress=progress) if embed else Filled()
            with self._access.writer() as caches:
                self.maintain(caches, changed=outcome.report.changed + filled.notes)
                report = self.complete(caches, outcome.report, filled, time.perf_counter() - started)
                if report.changed or report.chunks_embedded:
                    self._subscribers.tell(SyncFinished(utc_now(), report), caches)
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
        from vaultmem.sync.lexical import sync  # what only looks does without

        try:
            outcome = sync(
                caches, self._vault, scope=paths, full=full, deadline=deadline, on_progress=progress
            )
        except StoreError:
            integrity.mend(caches)
            outcome = sync(caches, self._vault, deadline=deadline, on_progress=progress)
        self._tell_condemned(caches)
        if paths is None:
            self._looked_at, self.overlay = time.monotonic(), Overlay()
        return outcome

    def _tell_condemned(self, caches: Caches) -> None:
        """What was found broken on the way, each once."""
        for said in caches.condemned:
            self._subscribers.tell(EngineFailed(utc_now(), said, MENDED_ADVICE), caches)
        caches.condemned.clear()

    def _look_twice(self, caches: Caches, first: Outcome) -> Outcome:
        """Look again at notes that seemed half-written; whoever asked for this sync waits for the truth."""
        from vaultmem.sync.lexical import sync

        time.sleep(UNSETTLED_WAIT_S)
        again = sync(
            caches, self._vault, scope=first.unsettled, settle_ns=int(UNSETTLED_WAIT_S * NS_PER_S)
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
        """Embed what is pending; one thread at a time.

        The caller keeps the lock, but is not inside `Access.writer`: another thread that is embedding right now
        must get in there to come to its end.
        """
        if self._embedder is None:
            return Filled()
        from vaultmem.sync.dense import fill_all

        with self._filling:
            filled = fill_all(
                self._access.writer,
                self._vault,
                self._embedder,
                should_stop=should_stop,
                on_progress=progress,
            )
        with self._access.writer() as caches:
            self._tell_condemned(caches)
        return filled

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
            embeddings_pending=counts.pending if self._embedder is not None else 0,
            chunks_embedded=filled.chunks_embedded,
            chunks_reused=filled.chunks_reused,
            seconds=replace(report.seconds, dense=total - report.seconds.total, total=total),
        )

    def maintain(self, caches: Caches, *, changed: int = 0, force: bool = False) -> None:
        """Keep the stores' disk use bounded; most calls find nothing to do."""
        if not (changed or force):
            return
        self._sweep(caches, force=force)
        stores = [store for store in (caches.lexical, caches.dense) if store is not None]
        if force or changed >= MANY_CHANGES or any(store.is_untidy for store in stores):
            with integrity.changing(caches):
                for store in stores:
                    store.maintain(force=force)

    def _sweep(self, caches: Caches, *, force: bool) -> None:
        """Delete what nobody needs any more; what grows slowly, or takes a walk of the whole root, now and then."""
        caches.sweep_folders()
        if not force and self._swept_at is not None and time.monotonic() - self._swept_at < SWEEP_EVERY_S:
            return
        self._swept_at = time.monotonic()
        self._vault.sweep_leftovers()
        caches.sweep_session_locks()
        try:
            if caches.vectors is not None:
                caches.vectors.prune(time.time() - VECTORS_KEPT_S)
        except StoreError as met:
            caches.replace_vectors(met)
            self._tell_condemned(caches)

    def reindex(self, *, progress: Callable[[Progress], None] | None = None) -> SyncReport:
        """Build both stores again beside the live ones; vectors are reused by text."""
        with self._access.holding():
            with self._access.writer() as caches:
                for store in StoreName:
                    caches.outdate(store)
            return self.sync(progress=progress)

    # --- looking

    def look_again(self) -> None:
        """Look at the files now, however short ago that was done."""
        self._looked_at = None
        self.freshen()

    def freshen(self, *, minds_stores: bool = False) -> None:
        """Look at the files unless that was done a moment ago: sync lexically if possible, else remember what differs.

        With `minds_stores` also at those of the stores, which recall reads: what somebody else did to them is mended.
        Raises RootMissingError; a root that is away leaves the caches as they are.
        """
        now = time.monotonic()
        if self._looked_at is not None and now - self._looked_at < self._dirty_check_s:
            return
        deadline = now + QUICK_LOOK_S
        try:
            with self._access.reader() as caches:
                integrity.refuse_foreign_caches(caches, self._vault)
                is_usable = caches.generation(StoreName.LEXICAL) > 0
                if is_usable and self._access.is_writer and self._is_scanning():
                    return
                overlay = look(caches.catalog, self._vault, deadline)
                # A live writer changes the files, and looks after them itself.
                is_unminded = not minds_stores or self._access.writer_pid is not None
                is_whole = is_unminded or caches.are_files_as_left
                self._say_how_old(caches)
        except StoreError:
            overlay, is_usable, is_whole = Overlay(), False, False
        wants_sync = not is_usable or (not self.as_of and (overlay.has_work or not is_whole))
        if wants_sync and self._sync_quickly(is_usable):
            overlay = Overlay()
        self._looked_at, self.overlay = now, overlay

    def _say_how_old(self, caches: Caches) -> None:
        """Caches that this process may not write answer as they are; it is told once."""
        was_told, self.as_of = bool(self.as_of), as_of(self._access, caches)
        if self.as_of and not was_told:
            self._subscribers.tell(EngineFailed(utc_now(), self.as_of, AS_OF_ADVICE))

    def _sync_quickly(self, is_usable: bool) -> bool:
        """Sync lexically before an answer, if nobody else is at it; whether it was done.

        Caches that answer but cannot be written are told of and go on answering; without any it takes its time.
        """
        deadline = time.monotonic() + QUICK_LOOK_S if is_usable else None
        try:
            with self._access.writer(timeout_s=0.0) as caches:
                report = self.sync_lexical(caches, deadline=deadline).report
                if report.changed:
                    self._subscribers.tell(SyncFinished(utc_now(), self.complete(caches, report)), caches)
        except WriterBusyError:
            return False
        except StoreError as error:
            if not is_usable:
                raise
            self._subscribers.tell(EngineFailed(utc_now(), str(error), error.advice))
            return False
        if report.changed:
            self._wake()
        return True

    def mend_unreadable(self, met: StoreError) -> None:
        """Rebuild a store that cannot be read, where this process may; what is read is opened anew in any case.

        What an answer has met broken is broken, whatever the look at the store says.
        """
        self._access.drop_reader()
        with contextlib.suppress(WriterBusyError, StoreError):
            with self._access.writer(timeout_s=0.0) as caches:
                if not integrity.set_damage_aside(caches) and met.store in tuple(StoreName):
                    caches.condemn(StoreName(met.store), str(met))
                self.sync_lexical(caches)
            self._wake()

    # --- around an edit

    def demand_root(self) -> None:
        """See to it that the folder in the root's place is the root, before anything is written there.

        One that is not on record, but holds notes that are, is taken over by a sync: a vault that was restored.
        Raises RootMissingError.
        """
        if not self.find_root():
            with suppress(WriterBusyError):  # whoever writes the caches takes it over
                self.sync(embed=False)

    def find_root(self) -> bool:
        """Whether the folder in the root's place is the one on record; it might be another with the same notes.

        Raises RootMissingError: it is gone, or holds none of the notes on record.
        """
        try:
            with self._access.reader() as caches:
                if integrity.is_root_on_record(caches.catalog, self._vault):
                    return True
                known = caches.catalog.known()
                integrity.refuse_replaced_root(caches.catalog, self._vault, self._vault.scan(), known)
                return False
        except StoreError:  # without caches nothing is on record
            self._vault.identity()
            return True

    def after_write(self, path: str, what: str) -> None:
        """Let the caches follow at once, here or in the process that writes them.

        The note is written: caches that cannot follow now are told of, and follow at the next look.
        """
        self._looked_at = None
        try:
            with self._access.writer(timeout_s=0.0) as caches:
                self.sync_lexical(caches, [path])
                self._subscribers.tell(NoteEdited(utc_now(), path, what), caches)
            self._wake()
        except WriterBusyError:
            self._await_writer(path)
            self._subscribers.tell(NoteEdited(utc_now(), path, what))
        except EngineError as error:
            self._subscribers.tell(NoteEdited(utc_now(), path, what))
            self._subscribers.tell(EngineFailed(utc_now(), str(error), error.advice))

    def _await_writer(self, path: str) -> None:
        """Wait until the writing process has seen the file as it is now; without patience beyond a moment."""
        wanted = self._vault.stat(path)
        deadline = time.monotonic() + WRITER_CATCHES_UP_S
        while time.monotonic() < deadline and not self._is_on_record(path, wanted):
            time.sleep(0.02)

    def _is_on_record(self, path: str, stat: FileStat | None) -> bool:
        try:
            with self._access.reader() as caches:
                known = caches.catalog.known([path]).get(path)
        except StoreError:  # the writer is only just making them
            return False
        if known is None or stat is None:
            return known is None and stat is None
        return known.stat == stat and not known.needs_indexing
