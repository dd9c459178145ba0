"""The background on a real folder: whatever happens to files, folders and the root is followed, once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import vaultmem.sync.lexical as sync
from tests.engine.following import NEVER_S, following, put_whole, wait_until
from vaultmem.engine import background
from vaultmem.engine.engine import Engine
from vaultmem.events import EngineFailed, EngineRecovered, NoteEdited, SyncFinished, WatcherMode
from vaultmem.sync.plan import SETTLE_NS

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


# --- half-written notes


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


def test_a_state_dir_inside_the_root_makes_no_loop(world):
    world.state_dir = Path(world.root) / "caches"
    with following(world, embedder=world.embedder) as watched:
        world.note("a.md", "a")
        watched.wait_for({"a.md": "a"})
        wait_until(lambda: watched.engine.status().dense.pending == 0)
        world.note("b.md", "b")
        watched.wait_for({"a.md": "a", "b.md": "b"})
        assert sum(event.report.added for event in watched.told(SyncFinished)) == 2
