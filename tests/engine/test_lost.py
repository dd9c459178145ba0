"""What lost versions say of their notes: which note, what differs, and when there is nothing to say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.asking import open_plain
from vaultmem.notes.diagnostics import Diagnostic
from vaultmem.notes.problems import Code

STAMP = "2026-05-14T120000.000Z"


@pytest.fixture
def engine(world):
    with open_plain(world) as engine:
        yield engine


def lose(world, name: str, text: str) -> Path:
    return world.write(f".vaultmem/lost/{STAMP}-{name}", text)


def lost(engine) -> list[Diagnostic]:
    return [found for found in engine.diagnostics() if found.code is Code.LOST_VERSION]


def test_a_lost_version_is_told_of_with_its_note_and_what_differs(world, engine):
    note = world.note("2026/a.md", "a", "kept line\n")
    file = lose(world, "a.md", note.read_text() + "lost line\n")
    engine.sync()
    (found,) = lost(engine)
    place = file.relative_to(world.root).as_posix()
    assert (found.path, found.id, found.severity) == ("2026/a.md", "a", "warning")
    assert place in found.message and f"cp {place} 2026/a.md" in found.fix and f"rm {place}" in found.fix
    assert "+lost line" in found.diff and "-kept" not in found.diff
    report = engine.doctor()
    assert not report.healthy and found in report.diagnostics
    file.unlink()
    assert lost(engine) == []


def test_a_version_that_equals_its_note_needs_no_word(world, engine):
    note = world.note("a.md", "a", "text\n")
    lose(world, "a.md", note.read_text())
    engine.sync()
    assert lost(engine) == []
    note.write_text(note.read_text() + "more\n")
    assert [found.path for found in lost(engine)] == ["a.md"]


def test_its_note_is_known_by_id_then_by_name(world, engine):
    for path, note_id in (("1/a.md", "one"), ("2/a.md", "two"), ("moved.md", "three")):
        world.note(path, note_id)
    world.write("plain.md", "no block\n")
    engine.sync()
    for name, text, path in (
        ("a.md", "---\nid: two\n---\n", "2/a.md"),
        ("old-name.md", "---\nid: three\n---\n", "moved.md"),
        ("plain.md", "other\n", "plain.md"),
        ("gone.md", "---\nid: gone\n---\n", f".vaultmem/lost/{STAMP}-gone.md"),
    ):
        file = lose(world, name, text)
        (found,) = lost(engine)
        assert found.path == path
        file.unlink()
    assert "Its note is gone" in found.fix
