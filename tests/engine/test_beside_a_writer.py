"""Beside another process that writes: a reader's answers are of the files as they are, and its edits arrive."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime

import pytest

from tests.engine.asking import hinted, open_plain, save_new, verdicts
from vaultmem.config import Config
from vaultmem.engine import keeper
from vaultmem.engine.engine import Engine
from vaultmem.errors import ConflictError, WriterBusyError
from vaultmem.notes.metadata import Status
from vaultmem.notes.parse import parse_note
from vaultmem.recall.scoring import Verdict


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
    monkeypatch.setattr(keeper, "WRITER_CATCHES_UP_S", 0.05)
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


# --- beside another thread that writes


def test_questions_and_edits_do_not_wait_for_a_sync_in_another_thread(world, monkeypatch):
    monkeypatch.setattr(keeper, "WRITER_CATCHES_UP_S", 0.05)
    world.note("a.md", "a", "alpha\n")
    with Engine.open(
        config=Config(world.root, world.state_dir, dirty_check_s=0.0), embedder="none"
    ) as engine:
        engine.sync()
        begun, ending = threading.Event(), threading.Event()

        def keep_a_turn() -> None:
            with engine.parts.access.writer():
                begun.set()
                ending.wait(30)

        thread = threading.Thread(target=keep_a_turn)
        thread.start()
        try:
            assert begun.wait(10)
            world.note("b.md", "b", "beta\n")
            assert [h.id for h in engine.recall("alpha", min_score=0.0).hints] == ["a"]
            assert engine.freshness.stale_notes == 1
            assert engine.open_memory("b").path == "b.md"
            assert engine.set_status("a", Status.DEPRECATED).changed
        finally:
            ending.set()
            thread.join()
        assert [note.path for note in engine.notes()] == ["a.md", "b.md"]
