"""A note as it is on disk: its whole text, and what tells copies apart."""

from __future__ import annotations

import pytest

from vaultmem.errors import ConflictError


def test_open_gives_the_whole_text_with_its_line_ends(world, engine):
    file = world.root / "a.md"
    file.write_bytes("\ufeff---\r\nid: a\r\nname: N\r\n---\r\nbody\r\n".encode())
    memory = engine.open_memory(" a ")
    assert memory.text == "---\r\nid: a\r\nname: N\r\n---\r\nbody\r\n"
    assert memory.body == "body\r\n"


def test_open_of_a_shared_id_is_a_conflict_that_names_the_copies(world, engine):
    world.note("a.md", "same")
    world.note("a.sync-conflict-20260514-101112-ABC.md", "same")
    with pytest.raises(ConflictError):
        engine.open_memory("same")
    assert [copy.looks_like_sync_copy for copy in engine.copies("same")] == [True, False] or [
        copy.path for copy in engine.copies("same") if copy.looks_like_sync_copy
    ] == ["a.sync-conflict-20260514-101112-ABC.md"]
