"""Who is told what happens, and what of it is put on record."""

from __future__ import annotations

from tests.engine.asking import open_plain
from vaultmem.engine.subscribers import Subscribers
from vaultmem.events import EngineRecovered, NoteEdited, SyncFinished
from vaultmem.text.moments import utc_now


def test_everybody_is_told_in_the_order_in_which_they_came():
    subscribers, told = Subscribers(), []
    for name in ("first", "second"):
        subscribers.subscribe(lambda event, name=name: told.append((name, event)))
    event = EngineRecovered(utc_now())
    subscribers.tell(event)
    assert told == [("first", event), ("second", event)]


def test_whoever_leaves_is_told_no_more_and_may_leave_twice():
    subscribers, told = Subscribers(), []
    leave = subscribers.subscribe(lambda _: told.append("leaves"))
    subscribers.subscribe(lambda _: told.append("stays"))
    leave()
    leave()
    subscribers.tell(EngineRecovered(utc_now()))
    assert told == ["stays"]


def test_a_subscriber_may_leave_or_bring_another_while_it_is_told():
    subscribers, told = Subscribers(), []

    def pass_on(event):
        told.append("first")
        leave()
        subscribers.subscribe(lambda _: told.append("second"))

    leave = subscribers.subscribe(pass_on)
    subscribers.subscribe(lambda _: told.append("stays"))
    subscribers.tell(EngineRecovered(utc_now()))
    assert told == ["first", "stays"]
    subscribers.tell(EngineRecovered(utc_now()))
    assert told == ["first", "stays", "stays", "second"]


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
