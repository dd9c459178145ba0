"""Edits through the engine: what they change in the file, what refuses them, and the way back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.asking import hinted, tree, verdicts
from vaultmem.config import Config, EngineChoice
from vaultmem.engine import editor
from vaultmem.engine.engine import Engine
from vaultmem.errors import (
    ConcurrentChangeError,
    ConflictError,
    EditRefusedError,
    NoteNotFoundError,
    RefusedError,
    UsageError,
)
from vaultmem.notes.metadata import Status
from vaultmem.recall.scoring import Verdict

TAGS_AT_ONCE = Path(__file__).parent / "programs" / "tags_at_once.py"

# --- tags, status, description


def test_a_description_is_suggested_as_wide_as_a_hint_shows_it(world):
    world.note("a.md", "a", "The cache is filled from behind.\n")
    wide = Config(root=world.root, state_dir=world.state_dir, engine=EngineChoice.NONE)
    for config, suggestion in (
        (wide, "The cache is filled from behind."),
        (replace(wide, description_width=20), "The cache is filled…"),
    ):
        with Engine.open(config=config) as engine:
            assert engine.suggest_description("a.md") == suggestion


def test_tags_are_added_and_removed_and_nothing_else_changes(world, engine):
    file = world.note("a.md", "a", "body with tags: [x]\n", tags="[T, keep] # mine")
    before = file.read_bytes()
    edited = engine.edit_tags("a", add=["New Tag", "keep"], remove=["#t"])
    assert (edited.tags, edited.changed) == (("keep", "new-tag"), True)
    assert file.read_bytes() == before.replace(b"[T, keep]", b"[keep, new-tag]")
    assert "-tags: [T, keep] # mine" in edited.diff and "+tags: [keep, new-tag] # mine" in edited.diff
    assert engine.notes()[0].tags == ("keep", "new-tag")


def test_setting_tags_replaces_them_all(world, engine):
    world.note("a.md", "a")
    assert engine.edit_tags("a", set=["标签", "Ｘ/y"]).tags == ("标签", "x/y")


def test_an_edit_that_changes_nothing_does_not_touch_the_file(world, engine):
    file = world.note("a.md", "a")
    os.utime(file, ns=(1, 1))
    edited = engine.edit_tags("a", add=["t"])
    assert (edited.changed, edited.diff) == (False, "")
    assert engine.set_status("a", Status.ACTIVE).changed is False
    assert engine.edit_description("a", "  about   a ").changed is False
    assert file.stat().st_mtime_ns == 1


@pytest.mark.parametrize("words", [["!!!"], ["ok", "  "]])
def test_a_word_that_is_no_tag_is_wrong_usage(world, engine, words):
    file = world.note("a.md", "a")
    before = file.read_bytes()
    with pytest.raises(UsageError, match="is no tag"):
        engine.edit_tags("a", add=words)
    assert file.read_bytes() == before


def test_a_deprecated_memory_is_hinted_no_more_and_again_when_activated(world, engine):
    world.note("a.md", "a", "alpha cache\n")
    assert hinted(engine, "alpha cache") == ["a"]
    assert engine.set_status("a", Status.DEPRECATED).status is Status.DEPRECATED
    assert verdicts(engine, "alpha cache") == {"a": Verdict.DEPRECATED}
    engine.set_status("a", Status.ACTIVE)
    assert hinted(engine, "alpha cache") == ["a"]


def test_tags_and_status_leave_updated_at_and_save_sets_it(world, engine):
    world.note("a.md", "a", updated_at="2020-01-01T00:00:00.000Z", created_at="2020-01-01T00:00:00.000Z")
    engine.edit_tags("a", add=["n"])
    engine.set_status("a", Status.DEPRECATED)
    assert engine.notes()[0].updated_at == "2020-01-01T00:00:00.000Z"
    engine.save(id="a", description="other words")
    (note,) = engine.notes()
    assert note.updated_at > "2026" and note.created_at == "2020-01-01T00:00:00.000Z"


def test_a_description_is_written_on_one_line_and_admits_the_note(world, engine):
    world.note("a.md", "a", description="")
    assert not engine.notes()[0].admitted
    engine.edit_description("a", " 说明: # not a comment\n 'quoted' ")
    (note,) = engine.notes()
    assert (note.description, note.admitted) == ("说明: # not a comment 'quoted'", True)


def test_an_empty_description_is_wrong_usage(world, engine):
    world.note("a.md", "a")
    with pytest.raises(UsageError, match="empty"):
        engine.edit_description("a", " \n ")


@pytest.mark.parametrize(
    "text",
    [
        "---\nid: [\n---\nbody\n",
        "---\nid: a\nid: b\n---\nbody\n",
        "---\nid: a\nname: never closed\n",
        "<<<<<<< HEAD\n---\nid: a\n---\n",
        "---\nid: a\nname: \udcff\n---\n",
    ],
    ids=["bad-yaml", "duplicate-key", "unclosed", "merge-markers", "not-utf8"],
)
def test_a_note_that_cannot_be_read_for_sure_is_not_edited(world, engine, text):
    file = world.root / "a.md"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    before = file.read_bytes()
    for edit in (
        lambda: engine.edit_tags(None, add=["x"], path="a.md"),
        lambda: engine.set_status(None, Status.DEPRECATED, path="a.md"),
        lambda: engine.adopt("a.md"),
    ):
        with pytest.raises(EditRefusedError):
            edit()
    assert file.read_bytes() == before


def test_an_unknown_id_is_refused(engine):
    with pytest.raises(NoteNotFoundError, match="nobody"):
        engine.edit_tags("nobody", add=["x"])


def test_a_conflicting_id_needs_a_path_and_the_path_chooses(world, engine):
    first, second = world.note("a.md", "same"), world.note("b.md", "same")
    before = first.read_bytes()
    with pytest.raises(ConflictError) as refused:
        engine.edit_tags("same", add=["x"])
    assert refused.value.paths == ("a.md", "b.md")
    assert engine.edit_tags("same", add=["x"], path="b.md").path == "b.md"
    assert first.read_bytes() == before and b"x" in second.read_bytes()


def test_a_path_that_leads_to_another_id_is_refused(world, engine):
    world.note("a.md", "a")
    with pytest.raises(NoteNotFoundError, match="has the id 'a'"):
        engine.edit_tags("b", add=["x"], path="a.md")


@pytest.mark.parametrize("path", ["../outside.md", "/etc/hosts", ".hidden/a.md", "2026/../../x.md", ""])
def test_no_path_leads_out_of_the_root(world, engine, path):
    outside = world.root.parent / "outside.md"
    outside.write_text("---\nid: private\n---\n")
    with pytest.raises(NoteNotFoundError):
        engine.edit_tags(None, add=["x"], path=path)
    with pytest.raises(NoteNotFoundError):
        engine.adopt(path)
    assert outside.read_text() == "---\nid: private\n---\n"


def let_somebody_save(monkeypatch, engine, file: Path, times: int) -> None:
    """After each read of a note, so many times, somebody appends a line to it."""
    read, left = engine.parts.vault.read, iter(range(times))

    def read_and_then_somebody_saves(path):
        found = read(path)
        for number in left:
            file.write_bytes(file.read_bytes() + f"typed in Obsidian {number}\n".encode())
            break
        return found

    monkeypatch.setattr(engine.parts.vault, "read", read_and_then_somebody_saves)


def test_an_edit_of_a_note_that_somebody_saves_meanwhile_is_made_anew(world, engine, monkeypatch):
    file = world.note("a.md", "a")
    engine.sync()
    let_somebody_save(monkeypatch, engine, file, times=3)
    edited = engine.edit_tags(None, add=["x"], path="a.md")
    assert edited.changed and file.read_bytes() == edited.after
    assert b"typed in Obsidian 0\ntyped in Obsidian 1\ntyped in Obsidian 2\n" in edited.after
    assert b"tags: [t, x]" in edited.after


def test_a_note_that_does_not_come_to_rest_is_not_overwritten(world, engine, monkeypatch):
    file = world.note("a.md", "a")
    engine.sync()
    monkeypatch.setattr(editor, "RETRY_S", 0.2)
    let_somebody_save(monkeypatch, engine, file, times=10_000)
    with pytest.raises(ConcurrentChangeError):
        engine.edit_tags(None, add=["x"], path="a.md")
    assert b"typed in Obsidian 1\n" in file.read_bytes() and b"x]" not in file.read_bytes()


def test_a_new_body_does_not_go_over_what_somebody_saved_since_and_fields_may(world, engine, monkeypatch):
    file = world.note("a.md", "a")
    engine.sync()
    let_somebody_save(monkeypatch, engine, file, times=2)
    with pytest.raises(ConcurrentChangeError):
        engine.save(id="a", body="new\n")
    assert engine.save(id="a", description="new").memory.body.endswith("typed in Obsidian 1\n")


def test_a_version_that_was_lost_in_an_edit_is_told_and_the_edit_is_not_made_anew(world, engine, monkeypatch):
    world.note("a.md", "a")
    engine.sync()
    calls = list[str]()

    def two_saves_met(path, *_):
        calls.append(path)
        raise ConcurrentChangeError("one is kept as x", kept="x")

    monkeypatch.setattr(engine.parts.vault, "replace", two_saves_met)
    with pytest.raises(ConcurrentChangeError, match="kept as x"):
        engine.edit_tags(None, add=["x"], path="a.md")
    assert calls == ["a.md"]


def test_thirty_processes_that_tag_one_memory_at_once_all_do(world, engine):
    world.note("a.md", "a")
    engine.sync()
    command = [sys.executable, TAGS_AT_ONCE, world.root, world.state_dir, "30"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (note,) = engine.notes()
    assert set(note.tags) == {"t", *(f"tag{n}" for n in range(30))}
    assert not list(world.root.rglob("*.old")) and not (world.root / ".vaultmem" / "lost").exists()


def test_a_dry_run_shows_the_change_and_writes_nothing(world, engine):
    world.note("a.md", "a")
    world.note("b.md", "", name="no id")
    before = tree(world.root)
    assert "+tags: [t, x]" in engine.edit_tags("a", add=["x"], dry_run=True).diff
    assert "+status: deprecated" in engine.set_status("a", Status.DEPRECATED, dry_run=True).diff
    assert "+description: other" in engine.edit_description("a", "other", dry_run=True).diff
    assert "+id: mem_" in engine.adopt("b.md", dry_run=True).diff
    assert "+name: Other" in engine.save(id="a", name="Other", dry_run=True).diff
    saved = engine.save(name="New", description="d", tags=["t"], body="b", dry_run=True)
    assert saved.created and "+id: mem_" in saved.diff
    assert engine.trash("a.md", dry_run=True).path == "a.md"
    assert [edited.path for edited in engine.rename_tag("t", "u", dry_run=True)] == ["a.md", "b.md"]
    assert tree(world.root) == before


# --- adopt


def test_a_note_without_an_id_is_adopted_and_can_be_opened(world, engine):
    file = world.note("a.md", "", "alpha\n", name="缓存 Order!")
    adopted = engine.adopt("a.md")
    assert adopted.id is not None and adopted.id.startswith("mem_") and adopted.id.endswith("_缓存_order")
    assert file.read_text("utf-8").count("id: ") == 1
    assert engine.open_memory(adopted.id).path == "a.md"


def test_a_note_without_a_block_is_adopted(world, engine):
    world.write("a.md", "# Just text\n\nalpha\n")
    adopted = engine.adopt("a.md")
    assert engine.open_memory(adopted.id or "").body.endswith("# Just text\n\nalpha\n")


def test_adopting_a_copy_ends_the_conflict(world, engine):
    world.note("a.md", "a", "alpha\n")
    shutil.copy(world.root / "a.md", world.root / "a 1.md")
    assert [note.in_conflict for note in engine.notes()] == [True, True]
    adopted = engine.adopt("a 1.md")
    assert [note.admitted for note in engine.notes()] == [True, True]
    assert engine.open_memory("a").path == "a.md"
    assert engine.open_memory(adopted.id or "").path == "a 1.md"


def test_a_note_with_an_id_of_its_own_is_not_adopted(world, engine):
    file = world.note("a.md", "a")
    before = file.read_bytes()
    with pytest.raises(EditRefusedError, match="an id of its own"):
        engine.adopt("a.md")
    assert file.read_bytes() == before


def test_an_id_that_was_written_since_the_last_look_is_not_replaced(world, settled):
    file = world.note("new.md", "brand-new")
    before = file.read_bytes()
    with pytest.raises(EditRefusedError, match="an id of its own"):
        settled.adopt("new.md")
    assert file.read_bytes() == before


def test_adopting_what_is_not_there_is_refused(engine):
    with pytest.raises(NoteNotFoundError):
        engine.adopt("none.md")


# --- renaming a tag, undo


def test_a_tag_is_renamed_with_its_children_everywhere_and_merged(world, engine):
    world.note("a.md", "a", tags="[cache, 'Cache/LRU', other]")
    world.note("b.md", "b", tags="[store, cache]")
    world.note("c.md", "", tags="[cached]", name="no id")
    done = engine.rename_tag("#Cache", "store")
    assert {edited.path: edited.tags for edited in done} == {
        "a.md": ("store", "store/lru", "other"),
        "b.md": ("store",),
    }
    assert engine.tags() == {"store": 2, "cached": 1, "other": 1, "store/lru": 1}


def test_a_note_that_refuses_is_left_as_it_is_when_a_tag_is_renamed(world, engine):
    world.note("a.md", "a", tags="[cache]")
    world.note("b.md", "b", tags="[cache]")
    engine.sync()
    (world.root / "b.md").write_text("---\nid: b\ntags: [cache]\n", "utf-8")  # being typed
    assert [edited.path for edited in engine.rename_tag("cache", "store")] == ["a.md"]


def test_renaming_to_what_is_no_tag_is_wrong_usage(world, engine):
    with pytest.raises(UsageError):
        engine.rename_tag("cache", "!!")


def test_undo_puts_the_bytes_back(world, engine):
    file = world.note("a.md", "a")
    before = file.read_bytes()
    engine.undo(engine.edit_tags("a", add=["x"]))
    assert file.read_bytes() == before
    assert engine.notes()[0].tags == ("t",)


def test_undo_is_refused_when_the_note_changed_since(world, engine):
    file = world.note("a.md", "a")
    edited = engine.edit_tags("a", add=["x"])
    file.write_text(file.read_text() + "more\n")
    with pytest.raises(ConcurrentChangeError):
        engine.undo(edited)
    assert file.read_text().endswith("more\n")


# --- trash


def test_a_trashed_note_leaves_recall_and_comes_back(world, engine):
    file = world.note("2026/05/a.md", "a", "alpha\n")
    before = file.read_bytes()
    assert hinted(engine, "alpha") == ["a"]
    trashed = engine.trash("2026/05/a.md")
    assert not file.exists()
    assert Path(trashed.trashed_to) == world.root.parent / ".trash" / "a.md"
    assert hinted(engine, "alpha") == [] and engine.notes() == ()
    engine.restore(trashed)
    assert file.read_bytes() == before and hinted(engine, "alpha") == ["a"]


def test_two_notes_of_one_name_both_fit_into_the_trash(world, engine):
    world.note("1/a.md", "one")
    world.note("2/a.md", "two")
    first, second = engine.trash("1/a.md"), engine.trash("2/a.md")
    assert first.trashed_to != second.trashed_to
    engine.restore(second)
    assert (world.root / "2/a.md").exists()


def test_restoring_over_another_note_is_refused(world, engine):
    world.note("a.md", "a")
    trashed = engine.trash("a.md")
    file = world.note("a.md", "new")
    with pytest.raises(RefusedError):
        engine.restore(trashed)
    assert "new" in file.read_text() and Path(trashed.trashed_to).exists()


def test_without_an_obsidian_vault_there_is_no_trash_and_a_dry_run_says_so_too(world, engine):
    (world.root.parent / ".obsidian").rmdir()
    file = world.note("a.md", "a")
    for dry_run in (True, False):
        with pytest.raises(RefusedError, match="no Obsidian vault"):
            engine.trash("a.md", dry_run=dry_run)
    assert file.exists()
