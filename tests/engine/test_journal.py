"""The engine's journal: what happened is there for every process, later."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from tests.engine.following import following
from vaultmem.engine import journal
from vaultmem.engine.engine import Engine
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
    SyncSeconds,
    WatcherChanged,
    WatcherMode,
)
from vaultmem.notes.metadata import Status
from vaultmem.stores.catalog import Catalog

AT = datetime(2026, 5, 14, 10, 30, 0, 123_456, tzinfo=UTC)
REPORT = SyncReport(scanned=3, added=2, deleted=1, seconds=SyncSeconds(scan=0.25), paths=("a.md", "笔记.md"))
KEPT = (
    SyncFinished(AT, REPORT),
    EngineFailed(AT, "the disk is full", "Make room."),
    EngineRecovered(AT),
    WatcherChanged(AT, WatcherMode.POLLING, "no inotify"),
    LockChanged(AT, is_writer=False, pid=7),
    NoteEdited(AT, '笔记 "a".md', "tags"),
)


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = Catalog(tmp_path / "catalog.sqlite", writable=True)
    yield catalog
    catalog.close()


@pytest.mark.parametrize("event", KEPT, ids=lambda event: type(event).__name__)
def test_an_event_is_read_as_it_was_written(catalog: Catalog, event: Event) -> None:
    journal.write(catalog, event)
    assert journal.read(catalog) == (event,)


def test_events_are_read_newest_last_and_in_utc(catalog: Catalog) -> None:
    there = AT.astimezone(timezone(timedelta(hours=8)))
    for at in (there, AT + timedelta(seconds=1)):
        journal.write(catalog, EngineRecovered(at))
    assert [event.at.isoformat() for event in journal.read(catalog)] == [
        "2026-05-14T10:30:00.123456+00:00",
        "2026-05-14T10:30:01.123456+00:00",
    ]


@pytest.mark.parametrize("event", [EmbeddingProgress(AT, 1, 2, None), CachesChanged(AT)])
def test_what_only_tells_progress_is_not_kept(catalog: Catalog, event: Event) -> None:
    journal.write(catalog, event)
    assert journal.read(catalog) == ()


def test_the_oldest_are_forgotten(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "KEPT_ENTRIES", 3)
    for n in range(5):
        journal.write(catalog, NoteEdited(AT, f"{n}.md", "tags"))
    assert [event.path for event in journal.read(catalog) if isinstance(event, NoteEdited)] == [
        "2.md",
        "3.md",
        "4.md",
    ]


@pytest.mark.parametrize(
    "entry",
    [
        "no json",
        "[]",
        '["NoteEdited", null]',
        '["NoteEdited", {"path": "a.md", "what": "tags"}]',
        '["NoteEdited", {"at": "yesterday", "path": "a.md", "what": "tags"}]',
        '["NoteEdited", {"at": "2026-05-14T10:30:00+00:00", "path": "a.md", "what": "tags", "mood": "good"}]',
        '["OfTomorrow", {"at": "2026-05-14T10:30:00+00:00"}]',
        '["WatcherChanged", {"at": "2026-05-14T10:30:00+00:00", "mode": "telepathy"}]',
        '["SyncFinished", {"at": "2026-05-14T10:30:00+00:00", "report": {}}]',
    ],
)
def test_an_entry_of_another_version_is_left_out(catalog: Catalog, entry: str) -> None:
    catalog.add_entry(entry, journal.KEPT_ENTRIES)
    journal.write(catalog, EngineRecovered(AT))
    assert journal.read(catalog) == (EngineRecovered(AT),)


# --- from one process to another


def test_what_happened_is_in_the_journal_for_later(world):
    with following(world) as watched:
        world.note("a.md", "a")
        watched.wait_for({"a.md": "a"})
        watched.engine.set_status("a", Status.DEPRECATED)
    with Engine.open(world.root, world.state_dir, "none") as later:
        kinds = [type(event) for event in later.activity()]
    assert kinds[-2:] == [SyncFinished, NoteEdited]
    assert WatcherChanged in kinds
