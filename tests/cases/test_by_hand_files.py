"""Cases with steps about files: crashes, watchers, names, other machines. Each test carries its case's id."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import re
import shutil
import signal
import subprocess
import sys

import pytest

from tests.cases.steps import PROGRAMS, following, on_record, wait_until
from vaultmem.engine import background
from vaultmem.engine.engine import Engine
from vaultmem.errors import ConfigError
from vaultmem.events import EngineFailed, WatcherChanged, WatcherMode
from vaultmem.files.watch import Watcher
from vaultmem.notes.parse import parse_note


def test_fs_crash_mid_write_a_killed_save_leaves_whole_notes(world):
    chance = random.Random(7)
    world.note("kept.md", "kept", "end\n")
    world.sync(embed=False)
    for _ in range(6):
        command = [sys.executable, PROGRAMS / "endless_saves.py", str(world.root), str(world.state_dir)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stdout.readline() == b"saved\n"
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(0.0, 0.5))
            process.send_signal(signal.SIGKILL)
        notes = [parse_note(file.name, file.read_bytes()) for file in world.root.rglob("*.md")]
        assert all(note.is_readable and note.id and re.search(r"end( \d+)?\n$", note.body) for note in notes)
        assert len({note.id for note in notes}) == len(notes)
    assert len(notes) > 5, "the test does not save"
    with world.engine() as engine:
        engine.sync()
        engine.parts.vault.sweep_leftovers(older_than_s=0)
    assert {file.suffix for file in world.root.rglob("*") if file.is_file()} == {".md"}
    assert world.facts() == world.rebuilt()


def test_fs_enospc_the_watch_limit_is_named_and_changes_are_seen_by_polling(world, monkeypatch):
    from watchdog.observers.inotify_c import InotifyFD

    def refuse(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(InotifyFD, "add_callback", refuse)
    with following(world) as (engine, events):
        (changed,) = [event for event in events if isinstance(event, WatcherChanged)]
        assert changed.mode is WatcherMode.POLLING and "max_user_watches" in changed.reason
        assert "max_user_watches" in next(c.detail for c in engine.doctor().checks if c.name == "watcher")
        world.note("a.md", "a")
        wait_until(lambda: on_record(engine) == {"a"})


def test_fs_index_in_vault_is_warned_of_and_another_machines_caches_are_made_our_own(world, tmp_path):
    world.note("a.md", "a", "alpha cache\n")
    world.state_dir = world.root / "caches"
    with pytest.raises(ConfigError, match="inside the memory root"):
        Engine.open(world.root, world.state_dir, "none")
    world.state_dir = world.root.parent / "caches"
    with Engine.open(world.root, world.state_dir, "none") as engine:
        engine.sync()
        report = engine.doctor()
        assert "inside the" in next(c.detail for c in report.checks if c.name == "state_dir")
        assert [note.path for note in engine.notes()] == ["a.md"]
    other = type(world)(tmp_path / "other-machine")
    for name in ("a", "b"):
        other.note(f"{name}.md", name, "delta\n")
    other.sync()
    shutil.rmtree(world.state_dir)
    shutil.copytree(other.state_dir, world.state_dir)
    shutil.rmtree(other.root)  # on this machine it is not there
    next(world.state_dir.glob("dense-*/store.json")).write_text("{")
    world.sync()
    assert world.facts() == world.rebuilt()


def test_fs_long_cjk_name_is_cut_at_a_letter_and_overwrites_nothing(world):
    with Engine.open(world.root, world.state_dir, "none") as engine:
        names = ["记忆" * 60 + "A", "记忆" * 60 + "B"]
        saved = [engine.save(name=name, description="d", tags=["t"], body=name).memory for name in names]
        files = [world.root / memory.path for memory in saved]
        assert len(set(files)) == 2 and all(len(file.name.encode()) <= 143 for file in files)
        assert [engine.open_memory(memory.id or "").name for memory in saved] == names


class SilentWatcher(Watcher):
    def start(self) -> None:
        self.mode = WatcherMode.NATIVE
        self._identity = self._look_at_root()


def test_fs_network_drive_without_events_an_edit_is_found_all_the_same(world, monkeypatch):
    monkeypatch.setattr(background, "Watcher", SilentWatcher)
    with following(world, dirty_check_s=0.05) as (engine, _):
        world.note("a.md", "a", "needle\n")
        wait_until(lambda: [match.id for match in engine.search("needle").matches] == ["a"])
    with following(world, scan_interval_s=0.2) as (engine, _):
        world.note("b.md", "b")
        wait_until(lambda: on_record(engine) == {"a", "b"})


def test_fs_own_write_loop_one_save_is_one_write_and_one_index(world, monkeypatch):
    with following(world) as (engine, events):
        file = world.note("a.md", "a", tags="not,  Normalised")
        by_hand = file.read_bytes(), file.stat().st_mtime_ns
        wait_until(lambda: on_record(engine) == {"a"})
        written, indexed = [], []
        replace, add = engine.parts.vault.replace, None
        monkeypatch.setattr(engine.parts.vault, "replace", lambda *a: written.append(a[0]) or replace(*a))
        with engine.parts.access.writer() as caches:
            add = caches.lexical.add
            monkeypatch.setattr(
                caches.lexical, "add", lambda docs: indexed.extend(d.note_key for d in docs) or add(docs)
            )
        engine.save(id="a", description="other words")
        saved = file.read_bytes(), file.stat().st_mtime_ns
        world.note("later.md", "later")  # seen after the save's own event
        wait_until(lambda: on_record(engine) == {"a", "later"})
        assert saved != by_hand and (file.read_bytes(), file.stat().st_mtime_ns) == saved
        assert written == ["a.md"] and len(indexed) == 2
        assert not [event for event in events if isinstance(event, EngineFailed)]


def test_fs_watcher_dies_when_folders_come_and_go_and_is_alive_afterwards(world):
    with following(world) as (engine, _):
        for _ in range(1_000):
            (world.root / "d/e/f").mkdir(parents=True)
            (world.root / "d/e/f/n.md").write_text("x")
            shutil.rmtree(world.root / "d")
        world.note("d/e/f/last.md", "last")
        wait_until(lambda: "last" in on_record(engine))
        assert engine.status().watcher is WatcherMode.NATIVE
