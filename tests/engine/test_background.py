"""The background on a real folder with a real watcher: whatever happens to the files is seen, and nothing ends it."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import vaultmem.sync.lexical as sync
from vaultmem.config import Config, WatchMode
from vaultmem.engine import background
from vaultmem.engine.engine import Engine
from vaultmem.errors import EmbedderError, StoreError
from vaultmem.events import (
    CachesChanged,
    EmbeddingProgress,
    EngineFailed,
    EngineRecovered,
    Event,
    LockChanged,
    NoteEdited,
    SyncFinished,
    WatcherChanged,
    WatcherMode,
)
from vaultmem.files.watch import ROOT, Watcher
from vaultmem.notes.metadata import Status
from vaultmem.sync.plan import SETTLE_NS

NEVER_S = 3_600.0


def wait_until(holds: Callable[[], object], what: str = "it", within_s: float = 20.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not come true in time"
        time.sleep(0.005)


def put_whole(world, path: str, note_id: str) -> None:
    """A new note that is never seen half-written: what was told of it can be counted."""
    world.note(f"../../{path}", note_id).rename(world.root / path)


class Watched:
    """An engine that follows a root, and what it told."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.events: list[Event] = []
        engine.subscribe(self.events.append)

    def ids(self) -> dict[str, str | None]:
        """What is on record now; looks at no file."""
        try:
            with self.engine.parts.access.reader() as caches:
                return {path: known.id for path, known in caches.catalog.known().items()}
        except StoreError:  # nothing yet
            return {}

    def told(self, kind: type[Event]) -> list[Event]:
        return [event for event in tuple(self.events) if type(event) is kind]

    def wait_for(self, ids: dict[str, str | None]) -> None:
        """Until exactly these notes are on record, and whoever put them there has told so."""
        wait_until(lambda: self.ids() == ids, f"{ids}, not {self.ids()}")
        if self.engine.is_writer:
            # Notes are on record before that is told, in one turn of the sync thread: its end is waited for, however
            # long it takes on a busy machine.
            with self.engine.parts.access.writer():
                pass

    @property
    def watcher(self) -> Watcher:
        assert self.engine.background is not None
        return self.engine.background._watcher


@contextmanager
def following(world, *, embedder="none", ready: bool = True, **settings) -> Iterator[Watched]:
    """A background whose periodic scan is far away: what it sees, the watcher has told it."""
    options = {"scan_interval_s": NEVER_S, "dirty_check_s": NEVER_S, "debounce_ms": 30, **settings}
    config = Config(world.root, world.state_dir, **options)
    with Engine.open(config=config, embedder=embedder, hold=True) as engine:
        watched = Watched(engine)
        engine.background = background.Background(engine.parts)
        engine.background.start()
        if ready:
            wait_until(lambda: engine.status().state == "idle", "the first scan")
        yield watched


# --- what happens to files


def test_a_note_that_is_written_edited_and_deleted_is_followed(world):
    with following(world) as watched:
        assert watched.watcher.mode is WatcherMode.NATIVE
        file = world.note("a.md", "a")
        watched.wait_for({"a.md": "a"})
        world.note("a.md", "other")
        watched.wait_for({"a.md": "other"})
        file.unlink()
        watched.wait_for({})


def test_what_was_there_before_is_found_by_the_first_scan(world):
    world.note("a.md", "a")
    with following(world) as watched:
        assert watched.ids() == {"a.md": "a"}
        (report,) = [event.report for event in watched.told(SyncFinished)]
        assert (report.added, report.paths) == (1, ("a.md",))


@pytest.mark.parametrize("way", ["rename", "delete-and-recreate", "truncate", "by-hidden-file"])
def test_every_way_in_which_editors_save_is_seen(world, way):
    file = world.note("a.md", "a", "first\n")
    text = file.read_text().replace("first", "second").replace("id: a", "id: saved")
    with following(world) as watched:
        if way == "truncate":
            file.write_text(text)
        elif way == "delete-and-recreate":
            file.unlink()
            file.write_text(text)
        else:
            temporary = file.with_name(".a.md.swp" if way == "by-hidden-file" else "a.md~tmp")
            temporary.write_text(text)
            temporary.replace(file)
        watched.wait_for({"a.md": "saved"})


def test_a_renamed_folder_is_one_batch_of_moves(world):
    for n in range(5):
        world.note(f"2026/05/n{n}.md", f"n{n}")
    with following(world) as watched:
        keys = note_keys(watched.engine)
        (world.root / "2026/05").rename(world.root / "2026/06")
        watched.wait_for({f"2026/06/n{n}.md": f"n{n}" for n in range(5)})
        assert note_keys(watched.engine) == keys
        assert sum(event.report.moved for event in watched.told(SyncFinished)) == 5


def note_keys(engine: Engine) -> set[int]:
    with engine.parts.access.reader() as caches:
        return {row.note_key for row in caches.catalog.rows()}


def test_a_folder_that_is_moved_in_or_out_is_seen_with_all_that_is_in_it(world):
    outside = world.folder / "elsewhere"
    (outside / "deep").mkdir(parents=True)
    with following(world) as watched:
        file = world.note("x.md", "x")
        watched.wait_for({"x.md": "x"})
        file.rename(outside / "deep" / "x.md")
        watched.wait_for({})
        outside.rename(world.root / "in")
        watched.wait_for({"in/deep/x.md": "x"})
        (world.root / "in").rename(outside)
        watched.wait_for({})


def test_folders_that_come_and_go_do_not_end_the_watcher(world):
    with following(world) as watched:
        for n in range(60):
            world.note(f"d{n % 3}/x/y/z/n.md", f"n{n}")
            shutil.rmtree(world.root / f"d{n % 3}")
        world.note("d0/x/y/z/last.md", "last")
        watched.wait_for({"d0/x/y/z/last.md": "last"})


def test_a_burst_is_few_batches_and_ends_complete(world):
    with following(world) as watched:
        for n in range(300):
            world.note(f"{n % 7}/{n}.md", f"n{n}")
        watched.wait_for({f"{n % 7}/{n}.md": f"n{n}" for n in range(300)})
        assert len(watched.told(SyncFinished)) < 30
    assert world.sync(embed=False).changed == 0


def test_files_that_are_no_notes_and_dot_folders_wake_nobody(world):
    (world.root / ".obsidian").mkdir()
    with following(world) as watched:
        (world.root / ".obsidian" / "workspace.md").write_text("x")
        (world.root / "image.png").write_bytes(b"x")
        (world.root / ".a.md.swp").write_text("x")
        put_whole(world, "a.md", "a")
        watched.wait_for({"a.md": "a"})
        assert [event.report.scanned for event in watched.told(SyncFinished)] == [1]


class Moment:
    """The moment that a broken note is given ends when the test says so, not after a second and a half."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_over = False
        hold_back = sync.hold_back_half_written
        monkeypatch.setattr(
            sync,
            "hold_back_half_written",
            lambda plan, now_ns, _: hold_back(plan, now_ns, 0 if self.is_over else int(NEVER_S * 1e9)),
        )
        monkeypatch.setattr(background, "SECOND_LOOK_S", 0.05)


def test_the_second_look_at_a_broken_note_comes_after_the_moment_that_it_is_given():
    assert background.SECOND_LOOK_S * 1e9 > SETTLE_NS


def test_a_note_that_breaks_keeps_its_rows_for_a_moment_and_then_leaves(world, monkeypatch):
    file, moment = world.note("a.md", "a"), Moment(monkeypatch)
    with following(world) as watched:
        file.write_text("---\nid: [\n---\n")
        wait_until(lambda: codes(watched.engine) == {"a.md": ["bad_yaml"]})
        assert watched.ids() == {"a.md": "a"}
        moment.is_over = True
        watched.wait_for({"a.md": None})


def codes(engine: Engine) -> dict[str, list[str]]:
    with engine.parts.access.reader() as caches:
        return {row.path: [str(p.code) for p in row.problems] for row in caches.catalog.rows()}


def test_a_note_that_was_only_half_written_never_leaves(world, monkeypatch):
    file, _ = world.note("a.md", "a", "first\n"), Moment(monkeypatch)
    whole = file.read_text()
    with following(world) as watched:
        seen = []
        watched.engine.subscribe(lambda event: seen.append(watched.ids()))
        file.write_text("")
        wait_until(lambda: codes(watched.engine) == {"a.md": ["empty_file"]})
        file.write_text(whole.replace("first", "second"))
        wait_until(lambda: codes(watched.engine) == {"a.md": []})
        assert all(ids == {"a.md": "a"} for ids in seen)
        assert watched.ids() == {"a.md": "a"}


# --- the root


def test_a_root_that_goes_away_and_comes_back_is_an_error_state_that_ends_by_itself(world):
    world.note("a.md", "a")
    with following(world) as watched:
        away = world.root.rename(world.folder / "away")
        wait_until(lambda: watched.told(EngineFailed), "the failure")
        assert watched.ids() == {"a.md": "a"}
        wait_until(lambda: watched.engine.status().state == "root_missing", "the error state")
        away.rename(world.root)
        wait_until(lambda: watched.told(EngineRecovered), "the recovery")
        wait_until(lambda: watched.engine.status().state == "idle", "the end of the error state")
        world.note("b.md", "b")
        watched.wait_for({"a.md": "a", "b.md": "b"})
        assert len(watched.told(EngineFailed)) == 1
        assert watched.watcher.mode is WatcherMode.NATIVE


def test_an_empty_folder_in_the_place_of_the_root_deletes_nothing(world):
    world.note("a.md", "a")
    with following(world) as watched:
        away = world.root.rename(world.folder / "away")
        world.root.mkdir()
        wait_until(lambda: watched.told(EngineFailed), "the failure")
        assert watched.ids() == {"a.md": "a"}
        world.root.rmdir()
        away.rename(world.root)
        wait_until(lambda: watched.told(EngineRecovered), "the recovery")
        assert watched.ids() == {"a.md": "a"}


def test_a_root_that_is_not_there_yet_is_followed_when_it_appears(world):
    world.root.rmdir()
    with following(world, ready=False) as watched:
        wait_until(lambda: watched.told(EngineFailed), "the failure")
        world.root.mkdir()
        world.note("a.md", "a")
        wait_until(lambda: watched.told(EngineRecovered), "the recovery")
        watched.wait_for({"a.md": "a"})


# --- without events


class SilentWatcher(Watcher):
    """A mount that reports nothing, as network drives do."""

    def start(self) -> None:
        self.mode = WatcherMode.NATIVE
        self._identity = self._look_at_root()


def test_the_periodic_scan_finds_what_no_event_told(world, monkeypatch):
    monkeypatch.setattr(background, "Watcher", SilentWatcher)
    with following(world, scan_interval_s=0.2) as watched:
        file = world.note("a.md", "a")
        watched.wait_for({"a.md": "a"})
        file.unlink()
        watched.wait_for({})


def test_the_look_before_an_answer_finds_what_no_event_told(world, monkeypatch):
    monkeypatch.setattr(background, "Watcher", SilentWatcher)
    with following(world, dirty_check_s=0.0) as watched:
        world.note("a.md", "a", "needle\n")
        assert [m.id for m in watched.engine.search("needle").matches] == ["a"]
        assert watched.engine.open_memory("a").path == "a.md"
        assert watched.ids() == {"a.md": "a"}


def test_polling_is_a_mode_that_sees_everything_a_little_later(world):
    with following(world, watch_mode=WatchMode.POLLING) as watched:
        assert (watched.watcher.mode, watched.watcher.reason) == (
            WatcherMode.POLLING,
            "polling was asked for",
        )
        world.note("a.md", "a")
        watched.wait_for({"a.md": "a"})
        (check,) = [c for c in watched.engine.doctor().checks if c.name == "watcher"]
        assert check.ok


@pytest.mark.parametrize(
    ("number", "setting"),
    [
        (errno.ENOSPC, "max_user_watches"),
        (errno.EMFILE, "max_user_instances"),
        (errno.EPERM, "no file events"),
    ],
)
def test_a_limit_of_the_system_is_named_and_polling_goes_on(world, monkeypatch, number, setting):
    refuse_watches(monkeypatch, number)
    with following(world) as watched:
        assert watched.watcher.mode is WatcherMode.POLLING
        (event,) = watched.told(WatcherChanged)
        assert setting in event.reason
        world.note("a.md", "a")
        watched.wait_for({"a.md": "a"})
        assert watched.engine.status().watcher is WatcherMode.POLLING
        report = watched.engine.doctor()
        (check,) = [c for c in report.checks if c.name == "watcher"]
        assert not check.ok and setting in check.detail
        assert report.caches_agree and not report.healthy


def refuse_watches(monkeypatch, number: int, after: int = 0) -> None:
    """The system gives no watch beyond the first few."""
    from watchdog.observers.inotify_c import InotifyFD

    add, given = InotifyFD.add_callback, []

    def refuse(watches, path, *rest):
        given.append(path)
        if len(given) > after:
            raise OSError(number, os.strerror(number))
        return add(watches, path, *rest)

    monkeypatch.setattr(InotifyFD, "add_callback", refuse)


def test_a_limit_that_only_some_folders_meet_is_named_too(world, monkeypatch):
    """The root is watched, a folder in it is not: half a watcher would miss that folder's changes in silence."""
    world.note("2026/a.md", "a")
    refuse_watches(monkeypatch, errno.ENOSPC, after=1)
    with following(world) as watched:
        assert watched.watcher.mode is WatcherMode.POLLING
        assert "max_user_watches" in watched.watcher.reason
        world.note("2026/b.md", "b")
        watched.wait_for({"2026/a.md": "a", "2026/b.md": "b"})


def test_a_limit_that_a_new_folder_meets_is_named_when_it_is_met(world, monkeypatch):
    refuse_watches(monkeypatch, errno.ENOSPC, after=1)
    with following(world) as watched:
        assert watched.watcher.mode is WatcherMode.NATIVE
        world.note("2026/a.md", "a")
        watched.wait_for({"2026/a.md": "a"})
        wait_until(lambda: watched.watcher.mode is WatcherMode.POLLING)
        world.note("2026/b.md", "b")
        watched.wait_for({"2026/a.md": "a", "2026/b.md": "b"})
        assert [event.mode for event in watched.told(WatcherChanged)] == [
            WatcherMode.NATIVE,
            WatcherMode.POLLING,
        ]


def test_a_thread_of_watchdog_that_dies_while_the_others_live_is_noticed(world, monkeypatch, caplog):
    with following(world) as watched:
        observer = watched.watcher._observer

        def fail(event):
            raise KeyError("an event out of order")

        monkeypatch.setattr(observer.watches, "handle_event", fail)
        world.note("a.md", "a")
        watched.wait_for({"a.md": "a"})
        assert watched.watcher._observer is not observer
        world.note("b.md", "b")
        watched.wait_for({"a.md": "a", "b.md": "b"})
    assert "watching for changes ended" in caplog.text


def test_a_watcher_whose_thread_died_is_started_again_and_misses_nothing(world):
    with following(world) as watched:
        dead = watched.watcher._observer
        assert dead is not None
        for emitter in dead.emitters:
            emitter.stop()
            emitter.join()
        world.note("a.md", "a")
        watched.wait_for({"a.md": "a"})
        assert watched.watcher._observer is not dead
        world.note("b.md", "b")
        watched.wait_for({"a.md": "a", "b.md": "b"})


def test_an_overflow_that_watchdog_only_logs_makes_it_look_at_everything(world):
    import logging

    watcher = Watcher(world.root, debounce_ms=1)
    watcher.start()
    try:
        logging.getLogger("watchdog.observers.inotify_buffer").error("queue overflow")
        wait_until(lambda: watcher.changes(0.5) == {ROOT})
    finally:
        watcher.stop()


# --- its own writes


def test_it_does_not_react_to_its_own_writes(world):
    file = world.note("a.md", "a")
    with following(world) as watched:
        watched.events.clear()
        watched.engine.edit_tags("a", add=["x"])
        after = file.read_bytes(), file.stat().st_mtime_ns
        put_whole(world, "later.md", "later")  # when this is seen, the edit's own event was dealt with
        watched.wait_for({"a.md": "a", "later.md": "later"})
        assert [event.what for event in watched.told(NoteEdited)] == ["tags"]
        assert [event.report.paths for event in watched.told(SyncFinished)] == [("later.md",)]
        assert (file.read_bytes(), file.stat().st_mtime_ns) == after


def test_an_edit_by_hand_is_never_written_back(world):
    with following(world) as watched:
        file = world.note("a.md", "a", "typed by hand", tags="T,  U")
        before = file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino
        watched.wait_for({"a.md": "a"})
        world.note("later.md", "later")
        watched.wait_for({"a.md": "a", "later.md": "later"})
        assert (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino) == before


# --- the lock


def test_a_reader_becomes_the_writer_when_the_lock_is_free_and_begins_with_a_look_at_everything(
    world, monkeypatch
):
    monkeypatch.setattr(background, "LOCK_RETRY_S", 0.05)
    world.note("a.md", "a")
    first = Engine.open(world.root, world.state_dir, "none", hold=True)
    first.sync()
    with following(world, ready=False) as watched:
        wait_until(lambda: watched.told(WatcherChanged))
        assert not watched.engine.is_writer
        world.note("b.md", "b")
        (world.root / "a.md").unlink()
        first.close()
        watched.wait_for({"b.md": "b"})
        assert watched.engine.is_writer
        assert [(e.is_writer, e.pid) for e in watched.told(LockChanged)] == [(True, None)]


@pytest.mark.parametrize("has_caches", [True, False])
def test_a_reader_is_told_when_the_writer_has_committed(world, monkeypatch, has_caches):
    monkeypatch.setattr(background, "BEAT_S", 0.02)
    with Engine.open(world.root, world.state_dir, "none", hold=True) as writer:
        if has_caches:
            writer.sync()
        with following(world, ready=False) as watched:
            world.note("a.md", "a")
            writer.sync()
            wait_until(lambda: watched.told(CachesChanged))
            assert watched.ids() == {"a.md": "a"}


def test_whoever_lost_its_state_dir_takes_the_lock_again_and_syncs_anew(world, monkeypatch):
    monkeypatch.setattr(background, "LOCK_RETRY_S", 0.05)
    world.note("a.md", "a")
    with following(world) as watched:
        shutil.rmtree(world.state_dir)
        wait_until(lambda: (world.state_dir / "catalog.sqlite").exists() and watched.ids() == {"a.md": "a"})
        assert watched.engine.is_writer


# --- embedding


def test_vectors_are_filled_in_behind_with_progress(world):
    world.sync()  # calibrates
    for n in range(20):
        world.note(f"{n}.md", f"n{n}", f"alpha {n}\n")
    with following(world, embedder=world.embedder, ready=False) as watched:
        wait_until(lambda: watched.told(EmbeddingProgress))
        wait_until(lambda: watched.engine.status().dense.pending == 0)
        wait_until(lambda: watched.engine.status().state == "idle")
        progress = watched.told(EmbeddingProgress)
        assert progress[-1].done == progress[-1].total == 20
        assert watched.engine.recall("alpha", min_score=0.0).mode == "hybrid"
        world.note("new.md", "new", "gamma\n")
        wait_until(lambda: pending_of(watched.engine) == {"new.md": False})
    assert world.facts() == world.rebuilt()


def pending_of(engine: Engine) -> dict[str, bool]:
    with engine.parts.access.reader() as caches:
        row = caches.catalog.row_at("new.md")
        return {} if row is None else {row.path: row.is_pending}


def test_words_answer_while_vectors_are_still_being_made(world):
    world.sync()  # calibrates
    held, passages = threading.Event(), world.embedder.passages

    class Held(type(world.embedder)):
        def passages(self, texts):
            held.wait(60)
            return passages(texts)

    for n in range(10):
        world.note(f"{n}.md", f"n{n}", f"alpha {n}\n")
    with following(world, embedder=Held(size=16), ready=False) as watched:

        def answers() -> bool:
            hints = watched.engine.recall("alpha 3", limit=3, min_score=0.0).hints
            return "n3" in [hint.id for hint in hints]

        try:
            wait_until(answers)
            assert watched.engine.status().dense.pending
        finally:
            held.set()


def test_a_sync_that_is_asked_for_while_vectors_are_made_comes_to_its_end(world):
    world.sync()  # calibrates
    world.embedder.delay_s = 0.02
    for n in range(30):
        world.note(f"{n}.md", f"n{n}", f"alpha {n}\n")
    with following(world, embedder=world.embedder, ready=False) as watched:
        wait_until(lambda: watched.told(EmbeddingProgress))
        assert watched.engine.sync().embeddings_pending == 0


def test_questions_and_edits_do_not_wait_for_a_sync_in_another_thread(world, monkeypatch):
    monkeypatch.setattr("vaultmem.engine.keeper.WRITER_CATCHES_UP_S", 0.05)
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


def test_an_edit_of_the_background_engine_is_embedded_without_waiting_for_a_scan(world):
    world.note("a.md", "a")
    with following(world, embedder=world.embedder) as watched:
        wait_until(lambda: watched.engine.status().dense.pending == 0)
        watched.engine.save(id="a", body="entirely new words\n")
        wait_until(lambda: watched.engine.status().dense.pending == 0)
        assert "a" in [c.id for c in watched.engine.recall("entirely new words", min_score=0.0).candidates]


def test_a_failing_embedder_is_told_once_and_costs_no_answer_and_recovers(world, monkeypatch):
    monkeypatch.setattr(background, "EMBED_RETRY_S", 0.05)
    world.note("a.md", "a", "alpha cache\n")
    world.embedder.is_failing = True
    with following(world, embedder=world.embedder, ready=False) as watched:
        wait_until(lambda: watched.told(EngineFailed))
        wait_until(lambda: watched.engine.status().state == "degraded")
        world.note("b.md", "b", "beta\n")
        watched.wait_for({"a.md": "a", "b.md": "b"})
        assert [h.id for h in watched.engine.recall("alpha cache", min_score=0.0).hints] == ["a"]
        assert watched.told(EngineRecovered) == []
        assert len(watched.told(EngineFailed)) == 1
        world.embedder.is_failing = False
        wait_until(lambda: watched.told(EngineRecovered))
        wait_until(lambda: watched.engine.status().dense.pending == 0)
        wait_until(lambda: watched.engine.status().state == "idle")


def test_closing_ends_embedding_within_one_call_and_it_goes_on_later(world):
    world.sync()  # calibrates
    for n in range(40):
        world.note(f"{n}.md", f"n{n}", f"text number {n}\n")
    world.embedder.delay_s = 0.02
    with following(world, embedder=world.embedder, ready=False) as watched:
        wait_until(lambda: watched.told(EmbeddingProgress))
    made = world.embedder.texts_embedded
    world.embedder.delay_s = 0.0
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("vaultmem-")]
    report = world.sync()
    assert report.embeddings_pending == 0
    assert report.chunks_embedded < 80, f"{made} texts were embedded for nothing"


# --- nothing ends it


@pytest.mark.parametrize("error", [ZeroDivisionError("a bug"), EmbedderError("no model")])
def test_an_unexpected_error_is_told_and_following_goes_on(world, monkeypatch, caplog, error):
    monkeypatch.setattr(background, "LOCK_RETRY_S", 0.05)
    with following(world) as watched:
        sync_lexical = watched.engine.parts.keeper.sync_lexical
        errors = [error]

        def fail_once(*args, **options):
            if errors:
                raise errors.pop()
            return sync_lexical(*args, **options)

        monkeypatch.setattr(watched.engine.parts.keeper, "sync_lexical", fail_once)
        world.note("a.md", "a")
        watched.wait_for({"a.md": "a"})
        (failed,) = watched.told(EngineFailed)
        assert str(error) in failed.message
        wait_until(lambda: watched.told(EngineRecovered))


def test_an_unexpected_error_in_the_embedder_is_told_and_tried_again(world, monkeypatch, caplog):
    monkeypatch.setattr(background, "EMBED_RETRY_S", 0.05)
    world.note("a.md", "a")
    passages, errors = world.embedder.passages, [ZeroDivisionError("a bug in a model")]

    class Fragile(type(world.embedder)):
        def passages(self, texts):
            if errors:
                raise errors.pop()
            return passages(texts)

    with following(world, embedder=Fragile(size=16), ready=False) as watched:
        wait_until(lambda: watched.told(EngineRecovered))
        wait_until(lambda: watched.engine.status().dense.pending == 0)


# --- what others see of it


def test_other_processes_read_what_it_is_doing_and_no_longer_once_it_is_gone(world):
    world.note("a.md", "a")
    with following(world), Engine.open(world.root, world.state_dir, "none") as other:
        status = other.status()
        assert (status.state, status.watcher, status.writer.pid) == ("idle", WatcherMode.NATIVE, os.getpid())
    with Engine.open(world.root, world.state_dir, "none") as other:
        status = other.status()
        assert (status.watcher, status.writer.alive) == (WatcherMode.OFF, False)
        with other.parts.access.writer(), Engine.open(world.root, world.state_dir, "none") as third:
            assert third.status().writer.alive


def test_what_happened_is_in_the_journal_for_later(world):
    with following(world) as watched:
        world.note("a.md", "a")
        watched.wait_for({"a.md": "a"})
        watched.engine.set_status("a", Status.DEPRECATED)
    with Engine.open(world.root, world.state_dir, "none") as later:
        kinds = [type(event) for event in later.activity()]
    assert kinds[-2:] == [SyncFinished, NoteEdited]
    assert WatcherChanged in kinds


def test_a_state_dir_inside_the_root_makes_no_loop(world):
    world.state_dir = Path(world.root) / "caches"
    with following(world, embedder=world.embedder) as watched:
        world.note("a.md", "a")
        watched.wait_for({"a.md": "a"})
        wait_until(lambda: watched.engine.status().dense.pending == 0)
        world.note("b.md", "b")
        watched.wait_for({"a.md": "a", "b.md": "b"})
        assert sum(event.report.added for event in watched.told(SyncFinished)) == 2
