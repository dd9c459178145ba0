"""The engine's journal: what happened is there for every process, later."""

from __future__ import annotations

from tests.engine.following import following
from vaultmem.engine.engine import Engine
from vaultmem.events import NoteEdited, SyncFinished, WatcherChanged
from vaultmem.notes.metadata import Status


def test_what_happened_is_in_the_journal_for_later(world):
    with following(world) as watched:
        world.note("a.md", "a")
        watched.wait_for({"a.md": "a"})
        watched.engine.set_status("a", Status.DEPRECATED)
    with Engine.open(world.root, world.state_dir, "none") as later:
        kinds = [type(event) for event in later.activity()]
    assert kinds[-2:] == [SyncFinished, NoteEdited]
    assert WatcherChanged in kinds
