"""The watcher: sets of paths worth looking at, which may be too large and never miss a change."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.files.disk import deep_chain, put
from vaultmem.events import WatcherMode
from vaultmem.files import watch
from vaultmem.files.vault import Vault
from vaultmem.files.watch import POLLING_WANTED, ROOT, Watcher


@pytest.fixture
def watching(root: Path) -> Iterator[Callable[..., Watcher]]:
    """Watchers of one root, started; all are stopped in the end."""
    started: list[Watcher] = []

    def start(**options: object) -> Watcher:
        started.append(Watcher(root, **{"debounce_ms": 1, **options}))  # type: ignore[arg-type]
        started[-1].start()
        return started[-1]

    yield start
    for watcher in started:
        watcher.stop()


def told(watcher: Watcher, holds: Callable[[set[str]], bool], within_s: float = 20.0) -> set[str]:
    """All the paths that were told until `holds` is true of them."""
    paths, deadline = set[str](), time.monotonic() + within_s
    while not holds(paths):
        assert time.monotonic() < deadline, f"only {paths} was told in time"
        paths |= watcher.changes(0.5)
    return paths


# --- events


def test_whatever_happens_to_a_note_its_path_is_told(root: Path, watching: Callable[..., Watcher]) -> None:
    put(root, "old.md")
    watcher = watching()
    assert (watcher.mode, watcher.reason) == (WatcherMode.NATIVE, "")
    put(root, "缓存.md")
    told(watcher, {"缓存.md"}.issubset)
    (root / "old.md").rename(root / "new.md")
    told(watcher, {"old.md", "new.md"}.issubset)
    (root / "new.md").unlink()
    told(watcher, {"new.md"}.issubset)


def test_an_edit_of_ours_is_told_as_its_note_and_nothing_else(
    root: Path, watching: Callable[..., Watcher]
) -> None:
    put(root, "2026/n.md", "old")
    watcher = watching()
    Vault(root).replace("2026/n.md", b"old", b"new")
    assert told(watcher, {"2026/n.md"}.issubset) == {"2026/n.md"}


def test_a_folder_that_comes_or_goes_is_told_itself(root: Path, watching: Callable[..., Watcher]) -> None:
    watcher = watching()
    put(root, "2026/a.md")
    told(watcher, {"2026"}.issubset)
    (root / "2026").rename(root / "2027")
    told(watcher, {"2026", "2027"}.issubset)


def test_a_cloud_stub_is_told_as_the_note_it_stands_for(root: Path, watching: Callable[..., Watcher]) -> None:
    watcher = watching()
    put(root, ".plan.md.icloud")
    told(watcher, {"plan.md"}.issubset)


def test_what_is_no_note_is_not_told(root: Path, watching: Callable[..., Watcher]) -> None:
    watcher = watching()
    for path in ("text.txt", ".hidden.md", "n.md.tmp", ".trash/gone.md"):
        put(root, path)
    put(root, "last.md")
    assert told(watcher, {"last.md"}.issubset) == {"last.md"}


def test_an_overflow_that_watchdog_only_logs_makes_it_look_at_everything(
    watching: Callable[..., Watcher],
) -> None:
    watcher = watching()
    logging.getLogger("watchdog.observers.inotify_buffer").error("queue overflow")
    told(watcher, {ROOT}.__eq__)


def test_a_burst_is_told_as_the_whole_root(
    root: Path, watching: Callable[..., Watcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "MOST_PATHS", 2)
    watcher = watching(debounce_ms=100)
    for number in range(20):
        put(root, f"{number}.md")
    told(watcher, {ROOT}.issubset)


def test_a_stream_that_never_pauses_is_handed_over_all_the_same() -> None:
    watcher = Watcher(Path("/nowhere"), debounce_ms=20)
    paths, deadline = set[str](), time.monotonic() + 20

    class Endless:
        def get(self, timeout: float) -> str:
            assert time.monotonic() < deadline, "it goes on collecting"
            return "a.md"

    watcher._queue = Endless()  # type: ignore[assignment]
    paths |= watcher._collect(1.0)
    assert paths == {"a.md"}


def test_nothing_happened_is_an_empty_set_and_so_is_the_end(watching: Callable[..., Watcher]) -> None:
    watcher = watching()
    assert watcher.changes(0.0) == set()
    watcher.stop()
    assert watcher.changes(60.0) == set()
    assert watcher.mode is WatcherMode.OFF


# --- the root


def test_a_root_that_is_not_there_yet_is_found_when_it_appears(tmp_path: Path) -> None:
    root = tmp_path / "later"
    watcher = Watcher(root, debounce_ms=1)
    watcher.start()
    try:
        assert (watcher.mode, watcher.reason) == (WatcherMode.OFF, "the memory root is not there")
        assert watcher.changes(0.0) == set()
        root.mkdir()
        assert watcher.changes(0.0) == {ROOT}
        assert watcher.mode is WatcherMode.NATIVE
        put(root, "n.md")
        told(watcher, {"n.md"}.issubset)
    finally:
        watcher.stop()


def test_another_folder_in_the_roots_place_is_watched_from_then_on(
    root: Path, tmp_path: Path, watching: Callable[..., Watcher]
) -> None:
    watcher = watching()
    root.rename(tmp_path / "away")
    root.mkdir()
    told(watcher, {ROOT}.issubset)
    put(root, "n.md")
    told(watcher, {"n.md"}.issubset)


# --- without events


def test_polling_names_the_whole_root_at_its_pace(watching: Callable[..., Watcher]) -> None:
    watcher = watching(mode_wanted="polling", polling_s=3_600.0)
    assert (watcher.mode, watcher.reason) == (WatcherMode.POLLING, POLLING_WANTED)
    assert [watcher.changes(0.0) for _ in range(3)] == [{ROOT}, set(), set()]
    eager = watching(mode_wanted="polling", polling_s=0.0)
    assert [eager.changes(0.0) for _ in range(3)] == [{ROOT}] * 3


@pytest.mark.parametrize(("levels", "name"), [(1_100, "d"), (50, "d" * 100)])
def test_folders_too_deep_for_events_are_polled_and_that_is_said(
    root: Path, watching: Callable[..., Watcher], levels: int, name: str
) -> None:
    with deep_chain(root, levels, name):
        watcher = watching(polling_s=0.0)
        told(watcher, {ROOT}.__eq__)  # a thread may have to find out
        assert watcher.mode is WatcherMode.POLLING and "deeper" in watcher.reason
        assert watcher.changes(0.0) == {ROOT}


def test_folders_that_become_too_deep_are_polled_from_then_on(
    root: Path, watching: Callable[..., Watcher], tmp_path: Path
) -> None:
    (tmp_path / "aside").mkdir()
    with deep_chain(tmp_path / "aside", 1_100):
        watcher = watching(polling_s=0.0)
        assert watcher.mode is WatcherMode.NATIVE
        (tmp_path / "aside" / "d").rename(root / "d")
        try:
            told(watcher, lambda paths: ROOT in paths and watcher.mode is WatcherMode.POLLING)
        finally:
            (root / "d").rename(tmp_path / "aside" / "d")
