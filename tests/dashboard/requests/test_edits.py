"""The verbs behind the keys that change notes: what each returns, and what it leaves in the vault."""

from __future__ import annotations

import pytest

from tui.models.history import Deed
from tui.requests.edits import do_again, give_new_ids, move_to_trash, take_back, write_status
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file, refused
from vaultmem.notes.metadata import Status


@pytest.fixture
def engine() -> FakeEngine:
    """Two notes, one of them deprecated."""
    return FakeEngine(
        {
            "a.md": note_file("A", id="mem_a", description="a"),
            "b.md": note_file("B", id="mem_b", description="b", status="deprecated"),
        }
    )


def test_a_status_is_written_where_it_is_another_one(engine):
    changed = write_status(engine, engine.notes(), Status.DEPRECATED)
    assert (changed.deed.what, [edit.path for edit in changed.deed.edits]) == (
        "Deprecated: 2 notes",
        ["a.md"],
    )
    assert not changed.refusals
    assert [note.status for note in engine.notes()] == ["deprecated", "deprecated"]


def test_what_is_refused_comes_back_with_its_reason(engine):
    engine.failing["adopt"] = refused("a.md")
    changed = give_new_ids(engine, engine.notes()[:1])
    assert (changed.deed.what, len(changed.deed)) == ("New id for “A”", 0)
    assert changed.refusals == {
        "a.md": "a.md cannot be edited: bad_yaml, line 3. Mend the note in an editor first."
    }


def test_a_step_is_taken_back_and_done_again(engine):
    before = dict(engine.files)
    deed = write_status(engine, engine.notes(), Status.DEPRECATED).deed
    after = dict(engine.files)
    undone = take_back(engine, deed)
    assert engine.files == before
    assert (undone.deed, undone.refusals) == (deed, {})
    redone = do_again(engine, undone.deed)
    assert engine.files == after
    assert (redone.deed, redone.refusals) == (deed, {})


def test_notes_come_back_from_the_trash_and_go_there_again(engine):
    before = dict(engine.files)
    deed = move_to_trash(engine, ["a.md", "b.md"]).deed
    assert (deed.what, [each.path for each in deed.trashed]) == ("Trashed 2 notes", ["a.md", "b.md"])
    assert engine.files == {}
    assert take_back(engine, deed).deed == deed
    assert engine.files == before
    assert do_again(engine, deed).deed == deed
    assert engine.files == {}


def test_a_step_is_taken_back_as_far_as_it_can_be(engine):
    deed = write_status(engine, engine.notes(), Status.DEPRECATED).deed
    more = write_status(engine, engine.notes(), Status.ACTIVE).deed
    both = Deed("both", (*more.edits,))
    engine.put("a.md", note_file("A", id="mem_a", description="changed outside"))
    undone = take_back(engine, both)
    assert [edit.path for edit in undone.deed.edits] == ["b.md"]
    assert list(undone.refusals) == ["a.md"]
    assert deed.about({"b.md"}).edits == ()
