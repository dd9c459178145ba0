"""The background with little or nothing to watch by: no events, limits of the system, a watcher that dies."""

from __future__ import annotations

import errno
import os

import pytest

from tests.engine.following import following, wait_until
from tests.files.disk import deep_chain
from vaultmem.config import WatchMode
from vaultmem.engine import background
from vaultmem.events import WatcherChanged, WatcherMode
from vaultmem.files.watch import Watcher

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


# --- limits of the system


def test_folders_too_deep_to_be_watched_are_followed_by_polling_and_the_doctor_says_so(world):
    with deep_chain(world.root, 1_100), following(world) as watched:
        world.note("a.md", "a")
        watched.wait_for({"a.md": "a"})
        wait_until(lambda: watched.watcher.mode is WatcherMode.POLLING, "polling")
        world.note("d/b.md", "b")
        try:
            watched.wait_for({"a.md": "a", "d/b.md": "b"})
            (check,) = [c for c in watched.engine.doctor().checks if c.name == "watcher"]
            assert "deeper" in check.detail
        finally:
            (world.root / "d" / "b.md").unlink()


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


# --- a watcher that ends


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
