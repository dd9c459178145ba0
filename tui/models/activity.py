"""Events of the engine as lines of the activity list. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from tui.looks.formatting import MUTED, left
from tui.looks.signs import Sign
from vaultmem.events import (
    CachesChanged,
    EmbeddingProgress,
    EngineFailed,
    EngineRecovered,
    Event,
    LockChanged,
    NoteEdited,
    SyncFinished,
    SyncReport,
    WatcherChanged,
)
from vaultmem.text.amounts import counted

KINDS: Mapping[str, Sign] = {
    "synced": Sign("●", "synced", "$text-success"),
    "embedding": Sign("◐", "embedding", "$text-accent"),
    "edited": Sign("✎", "edited", "$text-primary"),
    "failed": Sign("✖", "failed", "$text-error"),
    "recovered": Sign("✔", "recovered", "$text-success"),
    "watcher": Sign("◍", "watcher", MUTED),
    "lock": Sign("⚿", "lock", "$text-warning"),
}


@dataclass(frozen=True, slots=True)
class ActivityLine:
    """One line: its kind, its text, and what else is known. `number` tells lines apart."""

    number: int
    at: datetime
    kind: str
    text: str
    details: tuple[str, ...] = ()

    @property
    def haystack(self) -> str:
        """What a filter looks into."""
        return "\n".join((self.kind, self.text, *self.details)).casefold()


def activity_line(event: Event, number: int) -> ActivityLine:
    """An event as a line."""
    kind, text, details = _told(event)
    return ActivityLine(number, event.at, kind, text, details)


def _told(event: Event) -> tuple[str, str, tuple[str, ...]]:
    match event:
        case SyncFinished():
            return _synced(event)
        case EmbeddingProgress(done=done, total=total, seconds_left=seconds_left):
            return "embedding", f"{done} of {counted(total, 'note')} {left(seconds_left)}".rstrip(), ()
        case EngineFailed(message=message, advice=advice):
            return "failed", message, (advice,) if advice else ()
        case EngineRecovered():
            return "recovered", "what had failed works again", ()
        case WatcherChanged(mode=mode, reason=reason):
            return "watcher", f"{mode}{': ' + reason if reason else ''}", ()
        case LockChanged(is_writer=True):
            return "lock", "this window writes the caches now", ()
        case LockChanged(pid=pid):
            return (
                "lock",
                f"process {pid} writes the caches; this window follows it" if pid else "nobody writes",
                (),
            )
        case CachesChanged():
            return "synced", "another process wrote the caches", ()
        case NoteEdited(path=path, what=what):
            return "edited", f"{what}: {path}", ()


def _synced(event: SyncFinished) -> tuple[str, str, tuple[str, ...]]:
    report = event.report
    seconds = f"{counted(report.scanned, 'note')} looked at in {report.seconds.total:.2f} s"
    return "synced", sync_counts(report), (seconds, *report.paths[:40])


def sync_counts(report: SyncReport) -> str:
    """What a sync did, in numbers: `2 added, 14 chunks embedded`."""
    counts = (
        (report.added, "added"),
        (report.updated, "updated"),
        (report.moved, "moved"),
        (report.deleted, "deleted"),
        (report.unreadable, "unreadable"),
        (report.chunks_embedded, "chunks embedded"),
    )
    return ", ".join(f"{number} {word}" for number, word in counts if number) or "nothing new"
