"""Who is told what happens, and what of it is put on record."""

from __future__ import annotations

from tests.engine.asking import open_plain
from vaultmem.events import NoteEdited, SyncFinished
from vaultmem.text.moments import utc_now


def test_an_edit_is_told_and_remembered(world, engine):
    world.note("a.md", "a")
    engine.sync()
    events = []
    unsubscribe = engine.subscribe(events.append)
    engine.edit_tags("a", add=["x"])
    assert [(e.path, e.what) for e in events if isinstance(e, NoteEdited)] == [("a.md", "tags")]
    unsubscribe()
    engine.edit_tags("a", add=["y"])
    assert len(events) == 1
    with open_plain(world) as later:
        assert [e.what for e in later.activity() if isinstance(e, NoteEdited)] == ["tags", "tags"]


def test_a_subscriber_that_fails_does_not_stop_the_engine(world, engine, caplog):
    def fail(event):
        raise ValueError("a bug in a surface")

    events = []
    engine.subscribe(fail)
    engine.subscribe(events.append)
    world.note("a.md", "a")
    engine.sync()
    assert [type(event) for event in events] == [SyncFinished]
    assert "a subscriber failed" in caplog.text


def test_an_event_told_with_the_caches_is_on_record_and_one_without_is_not(parts, world):
    told = []
    parts.subscribers.subscribe(told.append)
    first, second = NoteEdited(utc_now(), "a.md", "save"), NoteEdited(utc_now(), "b.md", "save")
    with parts.access.writer() as caches:
        parts.subscribers.tell(first, caches)
        parts.subscribers.tell(second)
    parts.access.close()
    with world.engine() as engine:
        assert told == [first, second]
        assert engine.activity() == (first,)
