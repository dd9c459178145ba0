"""What happened, as values: the engine tells its subscribers, surfaces show them.

Every event carries `at`, an aware UTC time. Events are told from the engine's threads; a subscriber that needs
another thread hands them over itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class WatcherMode(StrEnum):
    """How changes on disk are noticed besides the scan every minute."""

    NATIVE = "native"
    POLLING = "polling"
    OFF = "off"


class Phase(StrEnum):
    """What a sync is doing right now."""

    SCANNING = "scanning"
    READING = "reading"
    INDEXING = "indexing"
    EMBEDDING = "embedding"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a phase is. `seconds_left` is None until it can be estimated."""

    phase: Phase
    done: int
    total: int
    seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class SyncSeconds:
    """Wall-clock seconds per part of a sync."""

    scan: float = 0.0
    plan: float = 0.0
    lexical: float = 0.0
    dense: float = 0.0
    total: float = 0.0


@dataclass(slots=True)
class Filled:
    """What a pass did so far."""

    notes: int = 0
    chunks_embedded: int = 0
    chunks_reused: int = 0


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What one sync did. Counts are of notes unless the name says chunks; the keys of `sync --json`."""

    scanned: int = 0
    unchanged: int = 0
    added: int = 0
    updated: int = 0
    moved: int = 0
    deleted: int = 0
    unreadable: int = 0
    admitted: int = 0
    chunks_embedded: int = 0
    chunks_reused: int = 0
    embeddings_pending: int = 0
    seconds: SyncSeconds = SyncSeconds()
    paths: tuple[str, ...] = ()
    """Paths that were added, updated, moved to or deleted (at most 1,000 are named)."""

    @property
    def changed(self) -> int:
        """How many notes differ from what the catalog knew before."""
        return self.added + self.updated + self.moved + self.deleted


@dataclass(frozen=True, slots=True)
class SyncFinished:
    """A sync ended; told only when something changed or was embedded, or when a person asked for it."""

    at: datetime
    report: SyncReport


@dataclass(frozen=True, slots=True)
class EmbeddingProgress:
    """Vectors are being filled in: `done` of `total` notes in this pass."""

    at: datetime
    done: int
    total: int
    seconds_left: float | None


@dataclass(frozen=True, slots=True)
class EngineFailed:
    """Part of the engine cannot work at the moment; the rest goes on."""

    at: datetime
    message: str
    advice: str


@dataclass(frozen=True, slots=True)
class EngineRecovered:
    """What `EngineFailed` spoke of last works again."""

    at: datetime


@dataclass(frozen=True, slots=True)
class WatcherChanged:
    """The watcher works in another way than before; `reason` says why."""

    at: datetime
    mode: WatcherMode
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LockChanged:
    """This process became, or is no longer, the writer. `pid` is the other writer's, when there is one."""

    at: datetime
    is_writer: bool
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class NoteEdited:
    """An edit of this process was written; `what` names it ("tags", "status", "save", "trash", …)."""

    at: datetime
    path: str
    what: str


@dataclass(frozen=True, slots=True)
class CachesChanged:
    """Another process, which writes, has committed something; told only to the subscribers of a reader."""

    at: datetime


Event = (
    SyncFinished
    | EmbeddingProgress
    | EngineFailed
    | EngineRecovered
    | WatcherChanged
    | LockChanged
    | NoteEdited
    | CachesChanged
)
