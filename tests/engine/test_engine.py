"""The engine as a surface uses it: edits and what refuses them, answers that are never older than the files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vaultmem.config import Config
from vaultmem.engine import engine as engine_module
from vaultmem.engine.engine import Engine
from vaultmem.errors import (
    ConcurrentChangeError,
    ConflictError,
    EditRefusedError,
    EngineError,
    NoteNotFoundError,
    RefusedError,
    RootMissingError,
    StoreError,
    UsageError,
    WriterBusyError,
)
from vaultmem.events import EngineFailed, NoteEdited, SyncFinished
from vaultmem.notes.metadata import Status
from vaultmem.notes.parse import parse_note
from vaultmem.recall.scoring import Verdict

HOUR_S = 3_600.0


def open_plain(world, *, look_every_s: float = 0.0, **options) -> Engine:
    """An engine without vectors. It looks at the files before each answer, or just once for a long time."""
    config = Config(world.root, world.state_dir, dirty_check_s=look_every_s)
    return Engine.open(config=config, embedder="none", **options)


@pytest.fixture
def engine(world):
    with open_plain(world) as engine:
        yield engine


@pytest.fixture
def settled(world):
    """An engine that looked at the files when the test began and does not look again by itself."""
    world.note("a.md", "a", "alpha cache\n")
    world.note("b.md", "b", "beta order\n")
    with open_plain(world, look_every_s=HOUR_S) as engine:
        engine.sync()
        yield engine


def verdicts(engine: Engine, query: str) -> dict[str, str]:
    return {c.id: str(c.verdict) for c in engine.recall(query, min_score=0.0).candidates}


def hinted(engine: Engine, query: str) -> list[str]:
    return [hint.id for hint in engine.recall(query, limit=9, min_score=0.0).hints]


def tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


# --- edits: tags, status, description


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


def test_a_note_that_changed_while_it_was_edited_is_not_overwritten(world, engine, monkeypatch):
    file = world.note("a.md", "a")
    read = engine.parts.vault.read

    def read_and_then_somebody_saves(path):
        found = read(path)
        file.write_bytes(found[0] + b"typed in Obsidian\n")
        return found

    engine.sync()
    monkeypatch.setattr(engine.parts.vault, "read", read_and_then_somebody_saves)
    with pytest.raises(ConcurrentChangeError):
        engine.edit_tags(None, add=["x"], path="a.md")
    assert file.read_bytes().endswith(b"typed in Obsidian\n") and b"x]" not in file.read_bytes()


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


def test_an_edit_is_told_and_remembered(world, engine):
    world.note("a.md", "a")
    engine.sync()
    events = []
    unsubscribe = engine.subscribe(events.append)
    engine.edit_tags("a", add=["x"])
    assert [(e.path, e.what) for e in events if isinstance(e, NoteEdited)] == [("a.md", "tags")]
    unsubscribe()
    engine.edit_tags("a", add=["y"])
    assert len(events) == 1
    with open_plain(world) as later:
        assert [e.what for e in later.activity() if isinstance(e, NoteEdited)] == ["tags", "tags"]


def test_an_edit_that_the_caches_cannot_follow_is_done_all_the_same(world, engine, monkeypatch):
    file = world.note("a.md", "a")
    engine.sync()
    events = []
    engine.subscribe(events.append)

    def full(*_, **__):
        raise StoreError("the disk is full")

    monkeypatch.setattr(engine.parts.keeper, "sync_lexical", full)
    assert engine.edit_tags(None, add=["x"], path="a.md").changed
    assert b"[t, x]" in file.read_bytes()
    assert [type(event) for event in events] == [NoteEdited, EngineFailed]


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


# --- save


def save_new(engine: Engine, name: str = "Context cache", **fields):
    facts = {"name": name, "description": "what it says", "tags": ["t"], "body": "alpha\n"}
    return engine.save(**{**facts, **fields})


def test_a_new_memory_lies_by_its_date_and_can_be_opened_hinted_and_searched(world, engine):
    saved = save_new(engine, "Context cache ordering!", tags=["Cache", "project/March"])
    now = datetime.now(UTC)
    week = (now.day - 1) // 7 + 1
    assert saved.created
    assert saved.memory.path == f"{now:%Y/%m}/week{week}/{now:%Y-%m-%d}-context-cache-ordering.md"
    opened = engine.open_memory(saved.memory.id or "")
    assert opened == saved.memory
    assert (opened.tags, opened.status) == (("cache", "project/march"), Status.ACTIVE)
    assert hinted(engine, "alpha") == [saved.memory.id]
    (note,) = engine.notes()
    assert note.diagnostics == ()
    assert note.created_at is not None and note.created_at == note.updated_at


@pytest.mark.parametrize("missing", ["name", "description", "tags", "body"])
def test_a_new_memory_that_lacks_something_is_wrong_usage_and_makes_no_file(world, engine, missing):
    with pytest.raises(UsageError, match=missing):
        save_new(engine, **{missing: None}) if missing != "name" else engine.save(
            description="d", tags=["t"], body="b"
        )
    assert tree(world.root) == {}


@pytest.mark.parametrize("fields", [{"name": " "}, {"description": "\n"}, {"tags": []}, {"tags": ["!"]}])
def test_a_field_that_says_nothing_is_wrong_usage(world, engine, fields):
    with pytest.raises(UsageError):
        save_new(engine, **fields)
    assert tree(world.root) == {}


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "a/b\\c",
        "CON",
        ".hidden",
        "🧠",
        "-x",
        "a: b # c",
        "'\"",
        "\x00\x07name",
        "名" * 300,
    ],
)
def test_no_name_is_too_odd_for_a_file(world, engine, name):
    saved = save_new(engine, name)
    file = world.root / saved.memory.path
    assert file.is_file() and file.resolve().is_relative_to(world.root.resolve())
    assert len(file.name.encode()) <= 143
    assert engine.open_memory(saved.memory.id or "").name == saved.memory.name


def test_a_name_keeps_letters_of_any_script_in_the_file_name(engine):
    path = save_new(engine, "缓存 Ordnung für Größe").memory.path
    assert path.endswith("-缓存-ordnung-für-größe.md")


def test_notes_of_one_name_never_overwrite_each_other(world, engine, monkeypatch):
    frozen = datetime(2026, 5, 14, 10, 30, tzinfo=UTC)
    monkeypatch.setattr(engine_module, "utc_now", lambda: frozen)
    saved = [save_new(engine, body=f"text {n}\n") for n in range(3)]
    assert len({s.memory.path for s in saved}) == len({s.memory.id for s in saved}) == 3
    assert [engine.open_memory(s.memory.id or "").body for s in saved] == [f"\ntext {n}\n" for n in range(3)]
    assert not any(note.in_conflict for note in engine.notes())


def test_an_update_changes_the_given_fields_alone(world, engine):
    file = world.note("a.md", "a", "# Body\n", extra="'kept as it is'", tags="[T]  # comment")
    before = file.read_text()
    saved = engine.save(id="a", description="new words")
    assert not saved.created
    lines = set(before.splitlines()) ^ set(file.read_text().splitlines())
    assert {line.split(":")[0] for line in lines} == {"description", "updated_at"}


def test_an_update_replaces_the_body_or_the_tags_when_given(world, engine):
    world.note("a.md", "a", "old\n", tags="[x, y]")
    saved = engine.save(id="a", tags=["z"], body="new\n")
    assert (saved.memory.tags, saved.memory.body.strip()) == (("z",), "new")


def test_an_update_that_says_the_same_changes_nothing(world, engine):
    file = world.note("a.md", "a", "text\n")
    before = file.read_bytes()
    engine.save(id="a", name="Note a", description="about a", tags=["t"])
    assert file.read_bytes() == before


def test_an_update_of_an_unknown_id_is_refused_and_makes_nothing(world, engine):
    with pytest.raises(NoteNotFoundError):
        engine.save(id="nobody", name="N", description="d", tags=["t"], body="b")
    assert tree(world.root) == {}


def test_a_body_that_begins_with_its_own_block_does_not_store_it_twice(engine):
    first = save_new(engine)
    again = engine.save(id=first.memory.id, body=first.memory.text + "more\n")
    assert again.memory.text.count("id: mem_") == 1
    assert again.memory.body.endswith("alpha\nmore\n")


def test_a_save_names_memories_that_say_nearly_the_same(world):
    with world.engine() as engine:
        words = {"name": "Redis eviction policy", "description": "noeviction for queues, lru for caches"}
        first = engine.save(**words, tags=["t"], body="alpha\n")
        engine.sync()
        second = engine.save(**words, tags=["t"], body="other\n")
        assert second.similar == (first.memory.id,)
        assert engine.save(id=second.memory.id, tags=["u"]).similar == (first.memory.id,)


# --- open


def test_open_gives_the_whole_text_with_its_line_ends(world, engine):
    file = world.root / "a.md"
    file.write_bytes("\ufeff---\r\nid: a\r\nname: N\r\n---\r\nbody\r\n".encode())
    memory = engine.open_memory(" a ")
    assert memory.text == "---\r\nid: a\r\nname: N\r\n---\r\nbody\r\n"
    assert memory.body == "body\r\n"


def test_open_finds_deprecated_notes_and_no_others_by_case(world, engine):
    world.note("a.md", "a", status="deprecated")
    assert engine.open_memory("a").status is Status.DEPRECATED
    with pytest.raises(NoteNotFoundError):
        engine.open_memory("A")


def test_open_of_a_shared_id_is_a_conflict_that_names_the_copies(world, engine):
    world.note("a.md", "same")
    world.note("a.sync-conflict-20260514-101112-ABC.md", "same")
    with pytest.raises(ConflictError):
        engine.open_memory("same")
    assert [copy.looks_like_sync_copy for copy in engine.copies("same")] == [True, False] or [
        copy.path for copy in engine.copies("same") if copy.looks_like_sync_copy
    ] == ["a.sync-conflict-20260514-101112-ABC.md"]


def test_open_finds_a_note_that_moved_since_the_last_look(world, settled):
    (world.root / "2027").mkdir()
    (world.root / "a.md").rename(world.root / "2027/elsewhere.md")
    assert settled.open_memory("a").path == "2027/elsewhere.md"


def test_open_finds_a_note_that_was_written_since_the_last_look(world, settled):
    world.note("new.md", "new")
    assert settled.open_memory("new").path == "new.md"


def test_open_does_not_answer_with_a_note_that_has_another_id_by_now(world, settled):
    world.note("a.md", "renamed")
    with pytest.raises(NoteNotFoundError):
        settled.open_memory("a")
    assert settled.open_memory("renamed").path == "a.md"


def test_open_does_not_answer_with_a_note_that_is_gone(world, settled):
    (world.root / "a.md").unlink()
    with pytest.raises(NoteNotFoundError):
        settled.open_memory("a")


def test_open_sees_that_a_conflict_was_resolved_since_the_last_look(world, engine):
    world.note("a.md", "same")
    other = world.note("b.md", "same")
    with open_plain(world, look_every_s=HOUR_S) as settled:
        settled.sync()
        other.unlink()
        assert settled.open_memory("same").path == "a.md"


def test_two_notes_that_swapped_their_paths_are_each_found_by_id(world, settled):
    a, b = world.root / "a.md", world.root / "b.md"
    a.rename(world.root / "c.tmp")
    b.rename(a)
    (world.root / "c.tmp").rename(b)
    assert (settled.open_memory("a").path, settled.open_memory("b").path) == ("b.md", "a.md")


# --- search


def test_search_sees_active_unconflicted_notes_with_an_id_unless_it_is_told_to_see_all(world, engine):
    world.note("ok.md", "ok", "needle\n")
    world.note("old.md", "old", "needle\n", status="deprecated")
    world.note("none.md", "", "needle\n")
    world.note("c1.md", "same", "needle\n")
    world.note("c2.md", "same", "needle\n")
    world.write("broken.md", "---\nid: [\n---\nneedle\n")
    assert [match.id for match in engine.search("needle").matches] == ["ok"]
    found = engine.search("needle", include_all=True).matches
    assert len(found) == 6
    assert {match.id for match in found} == {"ok", "old", None, "same"}


def test_search_reads_the_notes_and_not_the_caches(world, settled):
    world.note("a.md", "a", "fresh words\n")
    assert [match.path for match in settled.search("fresh words").matches] == ["a.md"]
    world.note("a.md", "a", "fresh words\n", status="deprecated")
    assert settled.search("fresh words").matches == ()


def test_a_copy_that_is_gone_hides_nothing_from_search(world):
    world.note("a.md", "same", "needle\n")
    copy = world.note("b.md", "same", "needle\n")
    with open_plain(world, look_every_s=HOUR_S) as engine:
        engine.sync()
        assert engine.search("needle").matches == ()
        copy.unlink()
        assert [match.path for match in engine.search("needle").matches] == ["a.md"]


def test_search_tells_lines_and_their_surroundings(world, engine):
    world.note("a.md", "a", "one\ntwo needle\nthree\n")
    (match,) = engine.search("two needle", fixed=True).matches
    assert (match.text, match.before[-1], match.after[0]) == ("two needle", "one", "three")
    assert (world.root / "a.md").read_text().splitlines()[match.line - 1] == "two needle"


def test_a_search_that_says_nothing_or_wants_nothing_is_wrong_usage(world, engine):
    world.note("a.md", "a")
    for pattern, limit in (("", 5), ("  ", 5), ("x", 0), ("x", -1), ("(", 5)):
        with pytest.raises(UsageError):
            engine.search(pattern, limit=limit)


# --- freshness


def test_an_engine_looks_at_the_files_again_only_after_the_throttle(world, settled, monkeypatch):
    def scan(*_):
        raise AssertionError("it looked")

    monkeypatch.setattr(settled.parts.vault, "scan", scan)
    settled.recall("alpha")
    settled.notes()
    settled.open_memory("a")


def test_without_any_caches_the_first_question_makes_them(world):
    world.note("a.md", "a", "alpha\n")
    with open_plain(world) as engine:
        assert hinted(engine, "alpha") == ["a"]


def test_each_answer_knows_of_the_last_change(world, engine):
    world.note("a.md", "a", "alpha\n")
    assert hinted(engine, "alpha") == ["a"]
    world.note("b.md", "b", "alpha\n")
    assert sorted(hinted(engine, "alpha")) == ["a", "b"]
    (world.root / "a.md").unlink()
    assert hinted(engine, "alpha") == ["b"]
    assert [note.path for note in engine.notes()] == ["b.md"]


def test_what_a_look_before_an_answer_found_is_told(world, engine):
    engine.sync()
    events = []
    engine.subscribe(events.append)
    world.note("a.md", "a")
    engine.notes()
    engine.notes()
    assert [event.report.paths for event in events if isinstance(event, SyncFinished)] == [("a.md",)]


def test_caches_that_cannot_be_written_go_on_answering(world, engine, monkeypatch):
    world.note("a.md", "a", "alpha\n")
    engine.sync()
    events = []
    engine.subscribe(events.append)

    def full(*_, **__):
        raise StoreError("the disk is full")

    monkeypatch.setattr(engine.parts.keeper, "sync_lexical", full)
    world.note("b.md", "b", "beta\n")
    assert hinted(engine, "alpha") == ["a"]
    assert engine.open_memory("b").path == "b.md"
    assert "the disk is full" in [event.message for event in events if isinstance(event, EngineFailed)]


@pytest.mark.parametrize("read_first", [0, 1, 2])
def test_a_look_that_runs_out_of_time_makes_no_false_conflict_and_loses_nothing(
    world, engine, monkeypatch, read_first
):
    """Two notes moved; the time is up after none, one or both were read."""
    for name in ("a", "b"):
        world.note(f"{name}.md", name, "alpha\n")
    engine.sync()
    (world.root / "new").mkdir()
    for name in ("a", "b"):
        (world.root / f"{name}.md").rename(world.root / f"new/{name}.md")
    clock = iter([0.0] * read_first + [10.0] * 9)
    with engine.parts.access.writer() as caches:
        with monkeypatch.context() as patched:
            patched.setattr("vaultmem.sync.lexical.time", FakeTime(clock))
            engine.parts.keeper.sync_lexical(caches, deadline=5.0)
        assert caches.catalog.counts().conflicts == 0
        assert len(caches.catalog.rows()) == 2
    world.sync()
    assert world.facts() == world.rebuilt()


class FakeTime:
    """The time module, but for `monotonic`."""

    def __init__(self, clock) -> None:
        import time

        self.monotonic = clock.__next__
        self.perf_counter, self.time, self.time_ns = time.perf_counter, time.time, time.time_ns


def test_a_foreground_sync_waits_until_a_broken_note_is_surely_broken(world, engine):
    world.note("a.md", "a")
    world.note("b.md", "b")
    engine.sync()
    world.write("a.md", "---\nid: [\n---\nbroken just now\n")
    world.note("b.md", "b", "edited\n")
    report = engine.sync()
    assert (report.updated, report.unreadable) == (2, 0)
    assert {note.path: note.id for note in engine.notes()} == {"a.md": None, "b.md": "b"}
    world.sync()
    assert world.facts() == world.rebuilt()


# --- beside another process that writes


@pytest.fixture
def beside(world):
    """A reader with its own handles, and the engine that holds the lock and syncs only when told to."""
    for name in ("a", "b", "c"):
        world.note(f"{name}.md", name, "alpha cache\n")
    with open_plain(world, hold=True) as writer:
        writer.sync()
        with open_plain(world) as reader:
            yield reader, writer


def test_a_reader_knows_that_it_is_one_and_who_writes(beside):
    reader, writer = beside
    assert writer.is_writer and not reader.is_writer
    assert reader.freshness.writer_pid == os.getpid()
    assert reader.freshness.scanned_at is not None
    assert 0 <= (reader.freshness.age_s(datetime.now(UTC)) or 0) < 60
    with pytest.raises(WriterBusyError), reader.parts.access.writer(timeout_s=0.0):
        pass


def test_a_reader_overlays_what_its_own_look_found(world, beside):
    reader, _ = beside
    world.note("a.md", "a", "alpha cache\n", status="deprecated")
    (world.root / "b.md").unlink()
    world.note("c.md", "c", "alpha cache\n", name="Better name")
    (candidate,) = [c for c in reader.recall("alpha cache", min_score=0.0).candidates if c.id == "c"]
    assert candidate.name == "Better name"
    assert verdicts(reader, "alpha cache") == {"a": "deprecated", "c": "hinted"}
    assert reader.freshness.stale_notes == 3
    assert [note.path for note in reader.notes()] == ["a.md", "c.md"]


def test_a_reader_shows_every_field_as_the_file_says_it_now(world, beside):
    reader, _ = beside
    times = {"created_at": "2026-05-01", "updated_at": "2026-05-02"}
    file = world.note("a.md", "a", name="New", description="new", tags="[x]", status="deprecated", **times)
    shown = next(note for note in reader.notes() if note.id == "a")
    assert shown.metadata == parse_note("a.md", file.read_bytes()).metadata
    assert (shown.created_at, shown.tags) == ("2026-05-01", ("x",))


def test_a_reader_finds_a_moved_memory_at_its_new_path(world, beside):
    reader, _ = beside
    (world.root / "a.md").rename(world.root / "moved.md")
    hints = {hint.id: hint.path for hint in reader.recall("alpha cache", min_score=0.0).hints}
    assert hints["a"] == "moved.md"
    assert reader.freshness.stale_notes == 1
    assert reader.open_memory("a").path == "moved.md"


def test_a_reader_sees_a_conflict_and_its_end_before_the_writer_does(world, beside):
    reader, _ = beside
    copy = world.note("a copy.md", "a", "alpha cache\n")
    assert verdicts(reader, "alpha cache")["a"] == Verdict.CONFLICT
    with pytest.raises(ConflictError):
        reader.open_memory("a")
    copy.unlink()
    assert verdicts(reader, "alpha cache")["a"] == Verdict.HINTED
    assert reader.open_memory("a").path == "a.md"


def test_a_reader_shows_the_diagnostics_of_the_files_as_they_are(world, beside):
    reader, _ = beside
    assert reader.diagnostics() == ()
    world.note("a.md", "a", description="", tags="")
    world.note("b.md", "", "text\n")
    codes = {(d.path, str(d.code)) for d in reader.diagnostics()}
    assert {("a.md", "missing_description"), ("a.md", "no_tags"), ("b.md", "missing_id")} <= codes
    assert [note.path for note in reader.notes()] == ["a.md", "b.md", "c.md"]


def test_a_reader_keeps_the_last_good_rows_of_a_note_that_is_being_written(world, beside):
    reader, _ = beside
    world.write("a.md", "---\nid: a\nname: being ty")
    note = next(note for note in reader.notes() if note.path == "a.md")
    assert (note.id, note.diagnostics) == ("a", ("bad_yaml",))


def test_a_reader_sees_each_commit_of_the_writer(world, beside):
    reader, writer = beside
    world.note("d.md", "d", "delta alone\n")
    assert hinted(reader, "delta alone") == []
    writer.sync()
    assert hinted(reader, "delta alone") == ["d"]
    assert reader.freshness.stale_notes == 0


def test_a_reader_goes_over_to_the_next_generation(world, beside):
    reader, writer = beside
    assert sorted(hinted(reader, "alpha cache")) == ["a", "b", "c"]
    writer.reindex()
    assert sorted(hinted(reader, "alpha cache")) == ["a", "b", "c"]


def test_a_note_that_can_never_be_read_does_not_make_a_reader_stale(world, beside):
    reader, writer = beside
    world.write("odd.md", "---\nid: x\nnever closed\n")
    os.utime(world.root / "odd.md", (1, 1))
    writer.sync()
    reader.recall("alpha")
    assert reader.freshness.stale_notes == 0


def test_an_edit_beside_a_writer_is_written_and_seen_when_the_writer_has_it(world, beside, monkeypatch):
    reader, writer = beside
    monkeypatch.setattr("vaultmem.engine.keeper.WRITER_CATCHES_UP_S", 0.05)
    assert reader.edit_tags("a", add=["x"]).changed
    saved = save_new(reader, "Beside")
    assert reader.open_memory(saved.memory.id or "").name == "Beside"
    assert reader.freshness.stale_notes == 2
    writer.sync()
    assert saved.memory.id in hinted(reader, "Beside")


def test_an_edit_waits_for_a_writer_that_follows_at_once(world, beside):
    reader, writer = beside
    writes = reader.parts.vault.replace

    def replace_and_let_the_writer_sync(path, before, after):
        found = writes(path, before, after)
        writer.sync()
        return found

    reader.parts.vault.replace = replace_and_let_the_writer_sync
    reader.set_status("a", Status.DEPRECATED)
    assert reader.freshness.stale_notes == 0


def test_whoever_comes_after_the_writer_may_write(world, beside):
    reader, writer = beside
    world.note("d.md", "d", "delta\n")
    assert hinted(reader, "delta") == []
    writer.close()
    assert hinted(reader, "delta") == ["d"]
    assert reader.freshness.writer_pid is None


# --- a hint is checked as it leaves


def test_a_note_that_is_gone_since_the_last_look_is_not_hinted(world, settled):
    (world.root / "a.md").unlink()
    assert hinted(settled, "alpha cache beta order") == ["b"]


def test_a_note_that_changed_since_the_last_look_is_shown_as_it_is_now(world, settled):
    world.note("a.md", "a", "alpha cache\n", name="New name", description="new words")
    (hint,) = settled.recall("alpha cache", min_score=0.0).hints
    assert (hint.name, hint.description) == ("New name", "new words")


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [({"status": "deprecated"}, Verdict.DEPRECATED), ({"description": ""}, Verdict.NO_DESCRIPTION)],
)
def test_a_note_that_may_not_be_hinted_any_more_is_not(world, settled, fields, verdict):
    world.note("a.md", "a", "alpha cache\n", **fields)
    assert verdicts(settled, "alpha cache") == {"a": verdict}


def test_a_note_that_has_another_id_by_now_is_not_hinted_under_the_old_one(world, settled):
    world.note("a.md", "other", "alpha cache\n")
    assert hinted(settled, "alpha cache") == []


def test_a_note_that_stopped_being_one_is_not_hinted(world, settled):
    world.write("a.md", "---\nid: [\n---\nalpha cache\n")
    assert hinted(settled, "alpha cache") == []


def test_the_place_of_a_hint_that_fell_away_goes_to_the_next(world):
    world.note("a.md", "a", "alpha cache cache cache\n")
    world.note("b.md", "b", "alpha cache order and much else besides\n")
    with open_plain(world, look_every_s=HOUR_S) as engine:
        engine.sync()
        assert [h.id for h in engine.recall("alpha cache", limit=1, min_score=0.0).hints] == ["a"]
        (world.root / "a.md").unlink()
        assert [h.id for h in engine.recall("alpha cache", limit=1, min_score=0.0).hints] == ["b"]


# --- recall


@pytest.mark.parametrize("limit", [0, -1])
def test_no_hints_are_given_where_none_are_wanted(settled, limit):
    recall = settled.recall("alpha", limit=limit, min_score=0.0)
    assert recall.hints == () and [c.id for c in recall.candidates] == ["a"]


def test_a_limit_beyond_all_notes_gives_them_all(settled):
    assert len(settled.recall("alpha beta cache order", limit=10**9, min_score=0.0).hints) == 2


@pytest.mark.parametrize("query", ["", " \n", "，。！", "```"])
def test_a_query_that_says_nothing_gets_nothing(settled, query):
    assert settled.recall(query, min_score=0.0).candidates == ()


def test_suppressed_memories_are_candidates_and_no_hints(settled):
    recall = settled.recall("alpha", suppressed={"a"}, min_score=0.0)
    assert recall.hints == () and recall.candidates[0].verdict is Verdict.SUPPRESSED


# --- the root, the stores, and the engine itself


def test_a_missing_root_is_said_by_everything_that_needs_it(world, engine):
    world.note("a.md", "a", "alpha\n")
    engine.sync()
    away = world.root.rename(world.folder / "away")
    asks: list[Callable[[], object]] = [
        engine.sync,
        engine.notes,
        lambda: engine.recall("alpha"),
        lambda: engine.open_memory("a"),
        lambda: engine.search("alpha"),
        lambda: save_new(engine),
    ]
    for ask in asks:
        with pytest.raises(RootMissingError):
            ask()
    assert [str(d.code) for d in engine.diagnostics()] == ["root_missing"]
    assert engine.status().state == "root_missing"
    assert not world.root.exists()
    away.rename(world.root)
    assert hinted(engine, "alpha") == ["a"]


@pytest.mark.parametrize("embed", [True, False])
def test_a_torn_vector_store_stops_no_sync(world, embed):
    world.note("a.md", "a", "alpha cache\n")
    world.note("b.md", "b", "delta\n")
    world.sync()
    next(world.state_dir.glob("dense-*/store.json")).write_text("{")
    (world.root / "b.md").unlink()
    world.note("a.md", "a", "alpha cache gamma\n")
    world.sync(embed=embed)
    with world.engine() as engine:
        assert hinted(engine, "gamma") == ["a"]
        engine.sync()
    assert world.facts() == world.rebuilt()


@pytest.mark.parametrize("name", ["dense", "lexical"])
def test_reindex_gets_along_with_a_torn_store(world, name):
    world.note("a.md", "a", "alpha cache\n")
    world.sync()
    next(world.state_dir.glob(f"{name}-*/store.json")).write_text("{")
    with world.engine() as engine:
        assert engine.reindex().embeddings_pending == 0
    assert world.facts() == world.rebuilt()


def test_a_torn_store_is_mended_by_the_question_that_met_it(world):
    world.note("a.md", "a", "alpha cache\n")
    world.sync()
    next(world.state_dir.glob("lexical-*/store.json")).write_text("{")
    next(world.state_dir.glob("dense-*/store.json")).write_text("{")
    with world.engine() as engine:
        assert hinted(engine, "alpha cache") == ["a"]
        engine.sync()
    assert world.facts() == world.rebuilt()


def test_a_catalog_with_a_damaged_page_is_made_anew_by_the_next_sync(world):
    for n in range(60):
        world.note(f"{n}.md", f"n{n}", f"alpha {n}\n", description="d" * 300)
    with open_plain(world) as engine:
        engine.sync()
    file = world.state_dir / "catalog.sqlite"
    data = bytearray(file.read_bytes())
    data[8_192 : len(data) - 4_096] = b"\xa5" * (len(data) - 12_288)
    file.write_bytes(data)
    with open_plain(world) as engine:
        assert engine.sync().added == 60
        assert len(hinted(engine, "alpha")) == 9


def test_a_subscriber_that_fails_does_not_stop_the_engine(world, engine, caplog):
    def fail(event):
        raise ValueError("a bug in a surface")

    events = []
    engine.subscribe(fail)
    engine.subscribe(events.append)
    world.note("a.md", "a")
    engine.sync()
    assert [type(event) for event in events] == [SyncFinished]
    assert "a subscriber failed" in caplog.text


def test_a_closed_engine_has_let_go_of_the_lock_and_says_that_it_is_closed(world):
    engine = open_plain(world, hold=True)
    engine.sync()
    engine.close()
    assert engine.parts.access.writer_pid is None
    with pytest.raises(EngineError, match="closed"):
        engine.sync()
