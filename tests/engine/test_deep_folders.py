"""Folders deeper in each other than recursion or a path of the system reach: their notes are notes like others."""

from __future__ import annotations

import os

import pytest

from tests.engine.asking import failing, open_plain
from tests.files.disk import deep_chain
from tests.worlds import note_text


@pytest.mark.parametrize(("levels", "name"), [(1_100, "d"), (50, "d" * 100)])
def test_a_note_at_the_end_of_a_deep_chain_lives_its_whole_life(world, levels, name):
    world.note("shallow.md", "shallow")
    path = "/".join([name] * levels) + "/n.md"
    with deep_chain(world.root, levels, name) as last, open_plain(world) as engine:
        descriptor = os.open("n.md", os.O_CREAT | os.O_WRONLY, dir_fd=last)
        os.write(descriptor, note_text("deep", "alpha deep\n").encode())
        os.close(descriptor)
        assert engine.sync().added == 2
        assert {note.path for note in engine.notes()} == {"shallow.md", path}
        assert engine.open_memory("deep").body == "alpha deep\n"
        assert engine.edit_tags("deep", add=["x"]).changed
        assert engine.sync(full=True).unreadable == 0 and failing(engine.doctor(repair=True)) == []
        assert {hint.id for hint in engine.recall("alpha deep", min_score=0.0).hints} == {"deep", "shallow"}
        engine.restore(engine.trash(path))
        assert os.listdir(last) == ["n.md"] and engine.open_memory("deep").tags == ("t", "x")


def test_a_name_that_the_system_does_not_take_is_no_note_that_was_deleted(world):
    """Whoever asks for it is told why; the sync goes on."""
    world.note("a.md", "a")
    with open_plain(world) as engine:
        engine.sync()
        report = engine.sync(paths=["x" * 300 + ".md", "y" * 300 + "/n.md"])
        assert (report.deleted, report.unreadable) == (0, 2)
        assert [note.id for note in engine.notes() if note.id] == ["a"]
