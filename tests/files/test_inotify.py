"""watchdog's observer for Linux, and the two things of which it would keep silent."""

from __future__ import annotations

import errno
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if not sys.platform.startswith("linux"):
    pytest.skip("inotify is of Linux", allow_module_level=True)

from watchdog.observers.inotify_c import InotifyFD

from vaultmem.files.inotify import Observer, Watches


@pytest.fixture
def watches() -> Iterator[Watches]:
    made = Watches()
    yield made
    made.stop()


def refuse(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def call(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(InotifyFD, "add_callback", call)


@pytest.mark.parametrize(
    ("number", "is_limit"),
    [
        (errno.ENOSPC, True),
        (errno.ENOMEM, True),
        (errno.ENAMETOOLONG, True),
        (errno.ENOENT, False),
    ],
)
def test_a_limit_of_the_system_is_remembered_and_a_folder_that_vanished_is_not(
    watches: Watches, monkeypatch: pytest.MonkeyPatch, number: int, is_limit: bool
) -> None:
    refuse(monkeypatch, number)
    with pytest.raises(OSError):
        watches.add_callback(b"/x", 0, None, None)  # type: ignore[arg-type]
    assert (watches.refusal is not None) is is_limit


def test_an_error_of_the_reading_thread_ends_it_and_stands_in_the_log(
    watches: Watches, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: object) -> None:
        raise KeyError("an event out of order")

    monkeypatch.setattr(InotifyFD, "run", fail)
    with caplog.at_level(logging.ERROR, "vaultmem"):
        watches.start()
        watches.join(20)
    assert not watches.is_alive()
    assert "watching for changes ended" in caplog.text


def test_an_observer_that_stops_lets_go_of_its_watches(tmp_path: Path) -> None:
    from watchdog.events import FileSystemEventHandler

    observer = Observer(timeout=0.1)
    observer.schedule(FileSystemEventHandler(), os.fspath(tmp_path), recursive=True)
    observer.start()
    assert observer.watches.is_alive() and observer.watches.refusal is None
    observer.stop()
    observer.join(20)
    assert not observer.is_alive() and not observer.watches.is_alive()
