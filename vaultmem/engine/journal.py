"""The engine's journal: the last things it did, as events, kept in the catalog so that every process can read them."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime

from vaultmem.events import (
    EngineFailed,
    EngineRecovered,
    Event,
    LockChanged,
    NoteEdited,
    SyncFinished,
    SyncReport,
    SyncSeconds,
    WatcherChanged,
    WatcherMode,
)
from vaultmem.stores.catalog import Catalog

KEPT_ENTRIES = 500

_KINDS: dict[str, type[Event]] = {
    kind.__name__: kind
    for kind in (SyncFinished, EngineFailed, EngineRecovered, WatcherChanged, LockChanged, NoteEdited)
}


def write(catalog: Catalog, event: Event) -> None:
    """Add an event, and forget the oldest beyond KEPT_ENTRIES. Kinds that only tell progress are not kept."""
    if type(event).__name__ in _KINDS:
        fields = dataclasses.asdict(event) | {"at": event.at.isoformat()}
        text = json.dumps([type(event).__name__, fields], ensure_ascii=False)
        catalog.add_entry(text, KEPT_ENTRIES)


def read(catalog: Catalog) -> tuple[Event, ...]:
    """The recent events, newest last; entries of another version are left out."""
    return tuple(event for text in catalog.entries(KEPT_ENTRIES) if (event := _parse(text)) is not None)


def _parse(text: str) -> Event | None:
    try:
        name, fields = json.loads(text)
        fields["at"] = datetime.fromisoformat(fields["at"]).astimezone(UTC)
        if name == "SyncFinished":
            fields["report"] = _report(fields["report"])
        if name == "WatcherChanged":
            fields["mode"] = WatcherMode(fields["mode"])
        return _KINDS[name](**fields)
    except (ValueError, KeyError, TypeError):
        return None


def _report(fields: dict[str, object]) -> SyncReport:
    seconds, paths = fields.pop("seconds"), fields.pop("paths")
    return SyncReport(
        **fields,  # type: ignore[arg-type]  # written by `write` from a report
        seconds=SyncSeconds(**seconds),  # type: ignore[arg-type]
        paths=tuple(paths),  # type: ignore[arg-type]
    )
