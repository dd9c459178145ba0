"""The caches kept in step with the files: answers are never older than the files, and edits are followed."""

from __future__ import annotations

import time

import pytest

from tests.engine.asking import hinted, open_plain
from vaultmem.config import Config
from vaultmem.engine.parts import Parts
from vaultmem.errors import StoreError
from vaultmem.events import EngineFailed, NoteEdited, SyncFinished
from vaultmem.sync import lexical

# --- the look before an answer


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
            patched.setattr(lexical, "time", FakeTime(clock))
            engine.parts.keeper.sync_lexical(caches, deadline=5.0)
        assert caches.catalog.counts().conflicts == 0
        assert len(caches.catalog.rows()) == 2
    world.sync()
    assert world.facts() == world.rebuilt()


class FakeTime:
    """The time module, but for `monotonic`."""

    def __init__(self, clock) -> None:
        self.monotonic = clock.__next__
        self.perf_counter, self.time, self.time_ns = time.perf_counter, time.time, time.time_ns


# --- sync, and after an edit


def test_a_full_sync_that_meets_a_broken_store_is_full_all_the_same(world, engine, monkeypatch):
    world.note("a.md", "a", "alpha\n")
    engine.sync()
    real, asked = lexical.sync, []

    def break_once(*arguments, **options):
        asked.append(options.get("full", False))
        if len(asked) == 1:
            raise StoreError("torn")
        return real(*arguments, **options)

    monkeypatch.setattr(lexical, "sync", break_once)
    engine.sync(full=True)
    assert asked == [True, True]


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


# --- beside the background


def test_a_keeper_whose_process_scans_anyway_does_not_look_before_an_answer(world):
    world.note("a.md", "a")
    world.sync()
    world.note("b.md", "b")
    config = Config(world.root, world.state_dir, dirty_check_s=0.0)
    made = Parts.of(config, world.embedder, hold=True, wake=lambda: None, is_scanning=lambda: True)
    assert made.access.try_become_writer()
    made.keeper.freshen()
    with made.access.reader() as caches:
        assert caches.catalog.known().keys() == {"a.md"}
    made.access.close()


def test_a_keeper_wakes_whoever_embeds_when_it_has_synced_before_an_answer(world):
    world.note("a.md", "a")
    woken = []
    config = Config(world.root, world.state_dir)
    made = Parts.of(
        config, world.embedder, hold=True, wake=lambda: woken.append(True), is_scanning=lambda: False
    )
    made.keeper.freshen()
    made.access.close()
    assert woken == [True]
