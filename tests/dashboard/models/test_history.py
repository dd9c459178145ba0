"""Undo and redo, in the order in which things were done."""

from __future__ import annotations

from tui.models.history import History, Step
from tui.requests.edits import write_status
from vaultmem.notes.metadata import Status


def test_a_new_step_ends_what_could_be_redone(engine):
    history = History()
    one = write_status(engine, engine.notes()[:1], Status.DEPRECATED).step
    history.add(one)
    assert history.take_undo() == one
    history.add_undone(one)
    history.add(Step("nothing"))
    assert (history.done, history.undone) == ([], [one])
    history.add(one)
    assert (history.done, history.undone) == ([one], [])
    assert history.take_redo() is None
