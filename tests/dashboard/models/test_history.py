"""Undo and redo, in the order in which things were done."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.models.history import Deed, History
from tui.requests.edits import write_status
from vaultmem.notes.metadata import Status
from vaultmem.views import Trashed


def deed(name: str) -> Deed:
    return Deed(name, trashed=(Trashed(f"{name}.md", f"/trash/{name}.md"),))


def test_a_new_step_ends_what_could_be_redone(engine):
    history = History()
    one = write_status(engine, engine.notes()[:1], Status.DEPRECATED).deed
    history.add(one)
    assert history.take_undo() == one
    history.add_undone(one)
    history.add(Deed("nothing"))
    assert (history.done, history.undone) == ([], [one])
    history.add(one)
    assert (history.done, history.undone) == ([one], [])
    assert history.take_redo() is None


def test_the_part_of_a_step_that_concerns_some_notes_keeps_its_name():
    both = Deed("both", trashed=(*deed("a").trashed, *deed("b").trashed))
    assert both.about({"b.md"}) == Deed("both", trashed=deed("b").trashed)
    assert len(both) == 2 and len(both.about({})) == 0


@given(st.lists(st.text("abc", min_size=1, max_size=1), max_size=8), st.integers(0, 10))
def test_what_is_undone_and_redone_is_as_it_was(names, times):
    history = History()
    for name in names:
        history.add(deed(name))
    before = list(history.done)
    for _ in range(times):
        if undone := history.take_undo():
            history.add_undone(undone)
    assert history.done == before[: max(0, len(before) - times)]
    while redone := history.take_redo():
        history.add_redone(redone)
    assert (history.done, history.undone) == (before, [])
