"""The engine's background: one thread follows changes and syncs, another embeds what is pending.

The first looks at sets of paths from the watcher and, every minute, at everything. It is also the one that notices
that the root is away, that the lock became free, or that another process has committed something. Neither thread
ends on an error: it is told once, and tried again.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmem.embedding.cores import lower_priority
from vaultmem.errors import EngineError, RootMissingError, StoreError, VaultmemError, WriterBusyError
from vaultmem.events import (
    CachesChanged,
    EmbeddingProgress,
    EngineFailed,
    EngineRecovered,
    LockChanged,
    Progress,
    SyncFinished,
    SyncReport,
    WatcherChanged,
    WatcherMode,
)
from vaultmem.files.watch import ROOT, Watcher
from vaultmem.text.moments import utc_now

if TYPE_CHECKING:
    from vaultmem.engine.parts import Parts
    from vaultmem.stores.access import Access
    from vaultmem.stores.caches import Caches

BEAT_S = 0.5
"""How often the sync thread looks up when nothing happens: at the root, the lock, and a reader at the catalog."""

LOCK_RETRY_S = 2.0
SECOND_LOOK_S = 1.6
"""When a note that seemed half-written is read again; longer than plan.SETTLE_NS."""

EMBED_RETRY_S = 30.0
PUBLISH_S = 0.5
SYNCING, EMBEDDING = "syncing", "embedding"


_log = logging.getLogger("vaultmem")


@dataclass(slots=True)
class _Turn:
    """What the sync thread remembers from one turn to the next; times are of time.monotonic."""

    is_writer: bool
    mode: WatcherMode | None = None
    scan_at: float = 0.0
    lock_at: float = 0.0
    data: tuple[int, int] | None = None
    """What a reader last saw of the caches' state; None when there were none."""


class Background:
    """Two threads that keep the caches of an open engine up to date until `stop`."""

    def __init__(self, parts: Parts) -> None:
        config = parts.config
        self._config, self._embedder = config, parts.embedder
        self._access, self._keeper, self._subscribers = parts.access, parts.keeper, parts.subscribers
        self._watcher = Watcher(
            config.root, mode_wanted=config.watch_mode.value, debounce_ms=config.debounce_ms
        )
        self._stopping = threading.Event()
        self._embed_wanted = threading.Event()
        self._threads = (
            threading.Thread(target=self._follow, name="vaultmem-sync", daemon=True),
            threading.Thread(target=self._embed, name="vaultmem-embed", daemon=True),
        )
        self._turn = _Turn(parts.access.is_writer, data=_state_of_data(parts.access))
        self._failures: dict[str, str] = {}
        self._second_look: dict[str, float] = {}
        self._published = ("", 0.0)
        self.state = "scanning"
        self.progress: Progress | None = None

    @property
    def watcher(self) -> WatcherMode:
        """How changes are noticed now."""
        return self._watcher.mode

    @property
    def failure(self) -> str | None:
        """What does not work at the moment, or None."""
        return next(iter(self._failures.values()), None)

    def start(self) -> None:
        """Start both threads."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End both threads and wait for them: at most one call of the embedder, or one sync."""
        self._stopping.set()
        self._embed_wanted.set()
        self._watcher.stop()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=10.0)

    def wake(self) -> None:
        """Something was written: look for texts to embed."""
        self._embed_wanted.set()

    # --- following changes

    def _follow(self) -> None:
        turn = self._turn
        while not self._stopping.is_set():
            try:
                self._take_turn(turn)
            except Exception as error:
                _log.exception("following changes failed")
                self._fail(SYNCING, _unexpected(error), "degraded")
                self._stopping.wait(LOCK_RETRY_S)
                turn.scan_at = 0.0

    def _take_turn(self, turn: _Turn) -> None:
        """One look at the lock and at what is due, then a beat of waiting for changes."""
        if turn.mode is None:
            self._watcher.start()
        if self._watcher.mode is not turn.mode:
            turn.mode = self._watcher.mode
            self._tell_on_record(WatcherChanged(utc_now(), turn.mode, self._watcher.reason))
        now = time.monotonic()
        self._try_lock(turn, now)
        if not turn.is_writer:
            turn.data = self._notice_commits(turn.data)
        elif now >= turn.scan_at:
            turn.scan_at = self._sync(None, now, turn.scan_at)
        elif due := self._due(now):
            turn.scan_at = self._sync(due, now, turn.scan_at)
        self._take_changes(now, turn.scan_at)

    def _try_lock(self, turn: _Turn, now: float) -> None:
        """Become the writer when nobody is; whoever does begins with a look at everything."""
        if not self._access.is_writer and now >= turn.lock_at:
            turn.lock_at = now + LOCK_RETRY_S
            if self._access.try_become_writer():
                turn.scan_at = 0.0
        if self._access.is_writer is not turn.is_writer:
            turn.is_writer = self._access.is_writer
            pid = None if turn.is_writer else self._access.writer_pid
            self._tell_on_record(LockChanged(utc_now(), turn.is_writer, pid))

    def _due(self, now: float) -> set[str]:
        """Paths whose second look is due."""
        return {path for path, at in self._second_look.items() if at <= now}

    def _take_changes(self, now: float, scan_at: float) -> None:
        """Wait a beat for changes, and put them on the list of what is due at once."""
        changed = self._watcher.changes(min(BEAT_S, max(scan_at - now, 0.01)) if scan_at else BEAT_S)
        if not self._access.is_writer:
            return
        for path in changed:
            self._second_look[path] = 0.0

    def _sync(self, paths: set[str] | None, now: float, scan_at: float) -> float:
        """Sync `paths` or everything; when the next full scan is due."""
        if paths and ROOT in paths:
            paths = None
        self._publish("scanning" if paths is None else "indexing")
        for path in list(self._second_look) if paths is None else paths:
            self._second_look.pop(path, None)
        try:
            with self._access.writer() as caches:
                outcome = self._keeper.sync_lexical(caches, paths)
                self._recover(SYNCING)
                self._finish(caches, outcome.report)
        except RootMissingError as error:
            self._fail(SYNCING, error, "root_missing")
            return now + BEAT_S
        except VaultmemError as error:
            self._fail(SYNCING, error, "degraded")
            return now + LOCK_RETRY_S
        for path in outcome.unsettled:
            self._second_look[path] = time.monotonic() + SECOND_LOOK_S
        return now + self._config.scan_interval_s if paths is None else scan_at

    def _finish(self, caches: Caches, report: SyncReport) -> None:
        counts = caches.catalog.counts()
        if report.changed:
            full = self._keeper.complete(caches, report)
            self._subscribers.tell(SyncFinished(utc_now(), full), caches)
            self._keeper.maintain(caches, changed=report.changed)
        if counts.pending and self._embedder is not None:
            self._embed_wanted.set()
        elif self.state != "embedding":
            self._publish("idle")

    def _notice_commits(self, seen: tuple[int, int] | None) -> tuple[int, int] | None:
        """A reader tells its subscribers that the writer has committed something since they could first ask."""
        state = _state_of_data(self._access)
        if state is None or state == seen:
            return seen
        self._subscribers.tell(CachesChanged(utc_now()))
        return state

    # --- embedding

    def _embed(self) -> None:
        lower_priority()
        retry_s: float | None = None
        while not self._stopping.is_set():
            self._embed_wanted.wait(retry_s)
            self._embed_wanted.clear()
            if self._stopping.is_set():
                return
            retry_s = None
            if not self._access.is_writer or self._embedder is None:
                continue
            try:
                self._fill()
            except Exception as error:
                if not isinstance(error, VaultmemError):
                    _log.exception("embedding failed")
                    error = _unexpected(error)
                self._fail(EMBEDDING, error, "degraded")
                retry_s = EMBED_RETRY_S

    def _fill(self) -> None:
        self._publish("embedding")
        started = time.perf_counter()
        filled = self._keeper.fill(should_stop=self._stopping.is_set, progress=self._embedding_progressed)
        if self._stopping.is_set():
            return
        with self._access.writer() as caches:
            self.progress = None
            self._recover(EMBEDDING)
            if filled.notes:
                report = self._keeper.complete(caches, None, filled, time.perf_counter() - started)
                self._subscribers.tell(SyncFinished(utc_now(), report), caches)
                self._keeper.maintain(caches, changed=filled.notes)
            self._publish("idle")

    def _embedding_progressed(self, progress: Progress) -> None:
        self.progress = progress
        self._publish("embedding")
        event = EmbeddingProgress(utc_now(), progress.done, progress.total, progress.seconds_left)
        self._subscribers.tell(event)

    # --- telling

    def _tell_on_record(self, event: WatcherChanged | LockChanged | EngineFailed | EngineRecovered) -> None:
        """Tell an event that happened outside of a sync, and record it where this process writes the caches."""
        try:
            if self._access.is_writer:
                with self._access.writer() as caches:
                    self._subscribers.tell(event, caches)
                    return
        except VaultmemError:
            pass  # what cannot be recorded is still told
        self._subscribers.tell(event)

    def _fail(self, part: str, error: VaultmemError, state: str) -> None:
        """Tell once that `part` (syncing, embedding) does not work at the moment."""
        message = str(error)
        is_news = self._failures.get(part) != message
        self._failures[part] = message
        if is_news:
            self._tell_on_record(EngineFailed(utc_now(), message, error.advice))
        self._publish(state)

    def _recover(self, part: str) -> None:
        if self._failures.pop(part, None) is not None and not self._failures:
            self._tell_on_record(EngineRecovered(utc_now()))

    def _publish(self, state: str) -> None:
        """Let other processes read what this one is doing, in the catalog."""
        if state == "idle" and self._failures:
            state = "degraded"
        self.state = state
        now = time.monotonic()
        if self._published[0] == state and now - self._published[1] < PUBLISH_S:
            return
        progress = self.progress
        text = json.dumps(
            {
                "pid": os.getpid(),
                "state": state,
                "message": self.failure or "",
                "watcher": self._watcher.mode.value,
                "watcher_reason": self._watcher.reason,
                "done": progress.done if progress else None,
                "total": progress.total if progress else None,
                "seconds_left": progress.seconds_left if progress else None,
            }
        )
        try:
            with self._access.writer(timeout_s=0.0) as own, own.catalog.transaction():
                own.catalog.set_meta("worker", text)
            self._published = state, now
        except (WriterBusyError, StoreError):
            pass


def _state_of_data(access: Access) -> tuple[int, int] | None:
    try:
        with access.reader() as caches:
            return caches.catalog.state_of_data
    except StoreError:
        return None


def _unexpected(error: Exception) -> EngineError:
    return EngineError(
        f"something unexpected went wrong: {type(error).__name__}: {error}", advice="It is tried again."
    )
