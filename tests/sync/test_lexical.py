"""Catalog and lexical store follow real files: every kind of change ends where a rebuild would."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from vaultmem.errors import RootMissingError
from vaultmem.sync import integrity


def ids(world) -> dict[str, str | None]:
    return {path: note[0] for path, note in world.facts()["notes"].items()}


def test_a_first_sync_indexes_every_note_and_only_the_memory_root(world):
    world.note("2026/05/a.md", "a")
    (world.root.parent / "Diary.md").write_text("private needle\n")
    report = world.sync()
    assert (report.scanned, report.added, report.admitted, report.embeddings_pending) == (1, 1, 1, 0)
    assert ids(world) == {"2026/05/a.md": "a"}


def test_a_second_sync_finds_nothing_and_embeds_nothing(world):
    world.note("a.md", "a")
    world.sync()
    embedded = world.embedder.texts_embedded
    report = world.sync()
    assert (report.unchanged, report.changed, report.chunks_embedded) == (1, 0, 0)
    assert world.embedder.texts_embedded == embedded


def test_a_renamed_folder_moves_its_notes_and_embeds_nothing(world):
    for i in range(4):
        world.note(f"2026/05/n{i}.md", f"n{i}")
    world.sync()
    embedded = world.embedder.texts_embedded
    (world.root / "2026/05").rename(world.root / "2026/06")
    report = world.sync()
    assert (report.moved, report.added, report.deleted) == (4, 0, 0)
    assert world.embedder.texts_embedded == embedded
    assert world.facts() == world.rebuilt()


def test_a_note_without_an_id_is_moved_by_its_bytes(world):
    world.write("a.md", "no block, just text\n")
    world.sync()
    (world.root / "a.md").rename(world.root / "b.md")
    assert world.sync().moved == 1


def test_notes_that_swap_their_names_end_as_a_rebuild(world):
    a, b = world.note("a.md", "a", "alpha\n"), world.note("b.md", "b", "delta\n")
    world.sync()
    a.rename(world.root / "c.tmp")
    b.rename(a)
    (world.root / "c.tmp").rename(b)
    world.sync()
    assert world.facts() == world.rebuilt()


def test_a_chain_of_moves_ends_as_a_rebuild(world):
    a, b = world.note("a.md", "a", "alpha\n"), world.note("b.md", "b", "delta\n")
    world.sync()
    b.rename(world.root / "c.md")
    a.rename(b)
    world.sync()
    assert world.facts() == world.rebuilt()


def test_a_deleted_note_leaves_no_ghost(world):
    world.note("a.md", "a")
    world.note("b.md", "b")
    world.sync()
    (world.root / "b.md").unlink()
    assert world.sync().deleted == 1
    assert world.facts() == world.rebuilt()


def test_a_changed_id_replaces_the_old_one(world):
    world.note("a.md", "old")
    world.sync()
    world.note("a.md", "new")
    world.sync()
    assert ids(world) == {"a.md": "new"}
    assert world.facts() == world.rebuilt()


def test_a_copy_is_a_conflict_and_ends_without_a_rebuild(world):
    world.note("a.md", "a")
    world.sync()
    shutil.copy(world.root / "a.md", world.root / "a 1.md")
    world.sync()
    said = world.facts()
    assert not any(note[5] for note in said["notes"].values())
    assert len(said["documents"]) == 2
    (world.root / "a 1.md").unlink()
    world.sync()
    assert world.facts()["notes"]["a.md"][5]
    assert world.facts() == world.rebuilt()


def test_a_wrong_note_leaves_recall_at_once(world):
    file = world.note("a.md", "a")
    world.sync()
    file.write_text("---\nid: a\n<<<<<<< HEAD\nname: x\n---\nbody\n")
    os.utime(file, (1, 1))  # written long ago: nobody is in the middle of saving it
    world.sync()
    said = world.facts()
    assert said["documents"] == {} and said["texts"] == []


def test_a_note_that_stopped_parsing_a_moment_ago_keeps_its_rows(world):
    file = world.note("a.md", "a")
    world.sync()
    with world.engine() as engine, engine.parts.access.writer() as caches:
        file.write_text("")
        outcome = engine.parts.keeper.sync_lexical(caches)
        assert outcome.unsettled == ("a.md",)
        assert caches.catalog.row_at("a.md").id == "a"
        os.utime(file, (1, 1))
        engine.parts.keeper.sync_lexical(caches)
        assert caches.catalog.row_at("a.md").id is None


def test_an_unclosed_fence_keeps_the_last_good_rows(world):
    file = world.note("a.md", "a")
    world.sync()
    before = world.facts()
    file.write_text("---\nid: a\nname: being typed\n")
    os.utime(file, (1, 1))
    report = world.sync()
    assert report.unreadable == 1
    assert world.facts()["documents"] == before["documents"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_note_keeps_its_rows_and_is_named(world):
    file = world.note("a.md", "a")
    world.sync()
    file.chmod(0)
    assert world.sync().unreadable == 1
    assert ids(world) == {"a.md": "a"}


def test_a_cloud_placeholder_keeps_the_rows(world):
    file = world.note("a.md", "a")
    world.sync()
    file.unlink()
    (world.root / ".a.md.icloud").write_bytes(b"bplist")
    report = world.sync()
    assert (report.deleted, report.unreadable) == (0, 1)
    assert ids(world) == {"a.md": "a"}
    assert world.sync().changed == 0


def test_same_size_and_mtime_but_other_content_is_found_by_ctime(world):
    file = world.note("a.md", "a", name="AAAA")
    world.sync()
    stat = file.stat()
    world.note("a.md", "a", name="BBBB")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    world.sync()
    assert world.facts()["notes"]["a.md"][1] == "BBBB"


def test_a_missing_root_is_an_error_and_keeps_every_row(world):
    world.note("a.md", "a")
    world.sync()
    away = world.root.rename(world.folder / "away")
    with pytest.raises(RootMissingError):
        world.sync()
    with world.engine() as engine:
        status = engine.status()
    assert (status.state, status.notes) == ("root_missing", 1)
    away.rename(world.root)
    assert world.sync().changed == 0


def test_an_empty_folder_in_place_of_the_root_is_not_an_empty_vault(world):
    world.note("a.md", "a")
    world.sync()
    world.root.rename(world.folder / "away")
    world.root.mkdir()
    with pytest.raises(RootMissingError, match="replaced by an empty folder"):
        world.sync()
    assert world.sync(full=True).deleted == 1


def test_deleting_the_last_note_of_the_same_root_is_believed(world):
    world.note("a.md", "a")
    world.sync()
    (world.root / "a.md").unlink()
    assert world.sync().deleted == 1


def test_a_scoped_sync_sees_a_folder_that_vanished(world):
    world.note("2026/05/a.md", "a")
    world.note("2026/06/b.md", "b")
    world.sync()
    shutil.rmtree(world.root / "2026/05")
    assert world.sync(paths=["2026/05"]).deleted == 1
    assert world.facts() == world.rebuilt()


def test_bm25_does_not_depend_on_the_history_of_edits(world):
    for i in range(6):
        world.note(f"{i}.md", f"n{i}", f"common words and rare{i}\n")
    world.sync()
    for turn in range(5):
        world.note("0.md", "n0", f"common words and rare0 turn{turn}\n")
        world.sync()
    world.note("0.md", "n0", "common words and rare0\n")
    world.sync()
    assert world.facts() == world.rebuilt()


def test_indexing_changes_no_byte_and_no_time_of_any_file(world):
    world.note("a.md", "a")
    world.write("b.md", "no block\n")
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in Path(world.root).rglob("*") if p.is_file()}
    world.sync()
    assert before == {
        p: (p.read_bytes(), p.stat().st_mtime_ns) for p in Path(world.root).rglob("*") if p.is_file()
    }


def swap_root(world, *others: str) -> None:
    """Another folder comes to lie in the root's place, as when a drive is taken away."""
    world.root.rename(world.folder / "away")
    world.root.mkdir()
    for path in others:
        world.note(path, f"other-{path}")


def on_record(world) -> set[str]:
    with world.engine() as engine, engine.parts.access.reader() as caches:
        return set(caches.catalog.known())


def test_a_folder_without_any_note_on_record_is_not_the_root(world):
    world.note("a.md", "a")
    world.sync()
    swap_root(world, "left/behind.md")
    with pytest.raises(RootMissingError, match="none of its 1 note is there"):
        world.sync()
    with pytest.raises(RootMissingError):  # what a watcher saw of it
        world.sync(paths=["a.md"])
    assert on_record(world) == {"a.md"}
    report = world.sync(full=True)
    assert (report.added, report.deleted) == (1, 1)


def test_a_replaced_root_is_not_believed_either_when_all_must_be_read_again(world):
    world.note("a.md", "a")
    world.sync()
    swap_root(world)
    with world.engine() as engine, engine.parts.access.writer() as caches:
        integrity.rules_applied(caches, "older rules")
    with pytest.raises(RootMissingError):
        world.sync()
    assert on_record(world) == {"a.md"}


def test_a_restored_root_that_holds_notes_on_record_is_taken_over(world):
    world.note("a.md", "a")
    world.note("b.md", "b")
    world.sync()
    swap_root(world, "c.md")
    world.note("a.md", "a")
    report = world.sync(paths=["c.md"])
    assert (report.added, report.deleted) == (1, 1)
    assert world.facts() == world.rebuilt()
