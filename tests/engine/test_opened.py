"""A note as it is on disk: its whole text, and what tells copies apart."""

from __future__ import annotations

import pytest

from vaultmem.engine.opened import WHOLE_BODY_BYTES, copies, note_now, read_memory
from vaultmem.errors import ConflictError, NoteNotFoundError, RefusedError
from vaultmem.files.vault import Vault


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


def test_a_note_that_is_gone_is_none_now_and_cannot_be_read(world):
    vault = Vault(world.root)
    assert note_now(vault, "a.md") is None
    with pytest.raises(NoteNotFoundError):
        read_memory(vault, "a.md")


def test_a_note_that_is_wrong_is_there_all_the_same(world):
    world.write("a.md", "---\nid: [\n---\nbody\n")
    note = note_now(Vault(world.root), "a.md")
    assert note is not None and note.id is None
    assert [str(problem.code) for problem in note.problems] == ["bad_yaml"]


def test_a_note_that_is_not_utf8_is_refused_and_the_first_wrong_byte_named(world):
    (world.root / "a.md").write_bytes(b"---\nid: a\n---\n\xff\n")
    with pytest.raises(RefusedError, match=r"not UTF-8 \(byte 14\)"):
        read_memory(Vault(world.root), "a.md")


def test_a_body_beyond_the_size_that_is_parsed_is_whole_too(world):
    body = "一二三\r\n" * (WHOLE_BODY_BYTES // 8)
    (world.root / "a.md").write_bytes(f"---\r\nid: a\r\n---\r\n{body}".encode())
    memory = read_memory(Vault(world.root), "a.md")
    assert memory.id == "a" and memory.body == body


def test_copies_that_are_gone_are_left_out_and_still_tell_a_copys_name(world):
    names = ("a.md", "a.sync-conflict-20260514-101112-ABC.md")
    world.note(names[1], "same", "text\n")
    (copy,) = copies(Vault(world.root), names)
    assert (copy.path, copy.looks_like_sync_copy) == (names[1], True)
    assert copy.size == (world.root / names[1]).stat().st_size
    assert copy.mtime.tzinfo is not None
