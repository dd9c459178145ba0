"""The verbs behind the keys that change notes: what each returns, and what it leaves in the vault."""

from __future__ import annotations

import pytest

from tui.models.history import Step
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
    assert (changed.step.what, [edit.path for edit in changed.step.edits]) == (
        "Deprecated: 2 notes",
        ["a.md"],
    )
    assert not changed.refusals
    assert [note.status for note in engine.notes()] == ["deprecated", "deprecated"]


def test_what_is_refused_comes_back_with_its_reason(engine):
    engine.failing["adopt"] = refused("a.md")
    changed = give_new_ids(engine, engine.notes()[:1])
    assert (changed.step.what, len(changed.step)) == ("New id for “A”", 0)
    assert changed.refusals == {
        "a.md": "a.md cannot be edited: bad_yaml, line 3. Mend the note in an editor first."
    }


def test_a_step_is_taken_back_and_done_again(engine):
    before = dict(engine.files)
    step = write_status(engine, engine.notes(), Status.DEPRECATED).step
    after = dict(engine.files)
    undone = take_back(engine, step)
    assert engine.files == before
    assert (undone.step, undone.refusals) == (step, {})
    redone = do_again(engine, undone.step)
    assert engine.files == after
    assert (redone.step, redone.refusals) == (step, {})


def test_notes_come_back_from_the_trash_and_go_there_again(engine):
    before = dict(engine.files)
    step = move_to_trash(engine, ["a.md", "b.md"]).step
    assert (step.what, [each.path for each in step.trashed]) == ("Trashed 2 notes", ["a.md", "b.md"])
    assert engine.files == {}
    assert take_back(engine, step).step == step
    assert engine.files == before
    assert do_again(engine, step).step == step
    assert engine.files == {}


def test_a_step_is_taken_back_as_far_as_it_can_be(engine):
    step = write_status(engine, engine.notes(), Status.DEPRECATED).step
    more = write_status(engine, engine.notes(), Status.ACTIVE).step
    both = Step("both", (*more.edits,))
    engine.put("a.md", note_file("A", id="mem_a", description="changed outside"))
    undone = take_back(engine, both)
    assert [edit.path for edit in undone.step.edits] == ["b.md"]
    assert list(undone.refusals) == ["a.md"]
    assert step.about({"b.md"}).edits == ()
