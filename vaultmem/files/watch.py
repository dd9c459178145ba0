"""The watcher: file system events become sets of paths. With `inotify` the only module that imports watchdog.

What kind of event it was is ignored: a path in a set only says "look there". Where the system has no events, or no
more room for them, the sets name the whole root every few seconds, and `mode` says so. Sets may be too large, never
wrong: the scan decides. The root itself is watched by asking whether it is still the same folder.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import queue
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmem.events import WatcherMode
from vaultmem.notes.names import is_note_name, is_skipped_folder, placeholder_of

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

ROOT = ""
"""In a set of paths: the whole root."""

LONGEST_WAIT_FACTOR = 8
"""A stream of events that never pauses is handed over after this many debounce times."""

MOST_PATHS = 2_000
"""A larger set is quicker to see by one scan of the root."""

POLLING_WANTED = "polling was asked for"

_QUIET_EVENTS = frozenset({"opened", "closed_no_write"})
_FOLDER_EVENTS = frozenset({"created", "deleted", "moved"})
"""A folder is also "modified" by every file in it, which has an event of its own."""


class Watcher:
    """Sets of paths, relative to `root`, that may have changed since the last set.

    `mode_wanted` is auto, native or polling. Use `changes` from one thread.
    """

    def __init__(
        self, root: Path, *, mode_wanted: str = "auto", debounce_ms: int = 150, polling_s: float = 2.0
    ) -> None:
        self._root = root
        self._mode_wanted = mode_wanted
        self._debounce_s = debounce_ms / 1_000
        self._polling_s = polling_s
        self._queue: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._observer: BaseObserver | None = None
        self._alarm = _Alarm(self._queue)
        self._identity: tuple[int, int] | None = None
        self._polled_at = 0.0
        self.mode = WatcherMode.OFF
        self.reason = ""

    def start(self) -> None:
        """Begin to watch; a root that is not there yet is found by `changes` when it appears."""
        self._identity = self._look_at_root()
        if self._identity is None:
            self.mode, self.reason = WatcherMode.OFF, "the memory root is not there"
        elif self._mode_wanted == "polling":
            self._poll(POLLING_WANTED)
        else:
            self._start_native()

    def _start_native(self) -> None:
        _hush_watchdog()
        logging.getLogger("watchdog").addHandler(self._alarm)
        try:
            self._observer = _new_observer()
            listener = _Listener(self._root, self._queue)
            self._observer.schedule(listener, os.fspath(self._root), recursive=True)  # type: ignore[arg-type]  # dispatch is all it calls
            self._observer.start()
        except (OSError, RecursionError) as error:  # watchdog climbs down in steps of its own
            self._poll_instead(error)
            return
        self.mode, self.reason = WatcherMode.NATIVE, ""
        self._poll_where_refused()

    def _poll_where_refused(self) -> bool:
        """Poll when the system had no room to watch some folder: half a watcher would miss changes in silence."""
        refusal = _refusal(self._observer)
        if refusal is not None:
            self._poll_instead(refusal)
        return refusal is not None

    def _poll_instead(self, error: OSError | RecursionError) -> None:
        self._stop_observer()
        self._poll(_why_not_native(error))

    def _poll(self, reason: str) -> None:
        self.mode, self.reason = WatcherMode.POLLING, reason

    def stop(self) -> None:
        """Stop watching, and wake a waiting `changes`."""
        self._queue.put(None)
        self._stop_observer()
        logging.getLogger("watchdog").removeHandler(self._alarm)
        self.mode = WatcherMode.OFF

    def _stop_observer(self) -> None:
        if self._observer is not None:
            with contextlib.suppress(Exception):  # a dead observer must not keep a live one from starting
                self._observer.stop()
                self._observer.join(timeout=2.0)
            self._observer = None

    def changes(self, timeout_s: float) -> set[str]:
        """Wait for changes, at most `timeout_s`, and until they pause for the debounce time.

        A set with ROOT in it means that everything may have changed: after a burst, an overflow, a dead observer, or
        a root that was replaced. An empty set: nothing happened, or somebody called `stop`.
        """
        paths = self._collect(timeout_s)
        if self._root_was_replaced() or self._observer_is_dead():
            self._stop_observer()
            self.start()
            return {ROOT}
        if self._poll_where_refused():
            return {ROOT}
        if len(paths) > MOST_PATHS or ROOT in paths:
            return {ROOT}
        if self.mode is WatcherMode.POLLING and time.monotonic() - self._polled_at >= self._polling_s:
            self._polled_at = time.monotonic()
            return {ROOT}
        return paths

    def _collect(self, timeout_s: float) -> set[str]:
        paths: set[str] = set()
        try:
            first = self._queue.get(timeout=max(timeout_s, 0.001))
        except queue.Empty:
            return paths
        if first is None:
            return paths
        paths.add(first)
        deadline = time.monotonic() + LONGEST_WAIT_FACTOR * self._debounce_s
        while (left := deadline - time.monotonic()) > 0:
            try:
                path = self._queue.get(timeout=min(self._debounce_s, left))
            except queue.Empty:
                break
            if path is None:
                break
            paths.add(path)
        return paths

    def _look_at_root(self) -> tuple[int, int] | None:
        try:
            status = self._root.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _root_was_replaced(self) -> bool:
        return self._look_at_root() != self._identity

    def _observer_is_dead(self) -> bool:
        if self._observer is None:
            return False
        threads = [
            self._observer,
            *self._observer.emitters,
            getattr(self._observer, "watches", self._observer),
        ]
        return not all(thread.is_alive() for thread in threads)


def _new_observer() -> BaseObserver:
    if sys.platform.startswith("linux"):
        from vaultmem.files.inotify import Observer

        return Observer(timeout=0.5)
    from watchdog.observers import Observer as SystemsObserver

    return SystemsObserver(timeout=0.5)


def _refusal(observer: BaseObserver | None) -> OSError | None:
    """Why some folder is not watched; None when all are, or when nobody can tell."""
    refusal: OSError | None = getattr(getattr(observer, "watches", None), "refusal", None)
    return refusal


def _hush_watchdog() -> None:
    """Folders that come and go quickly make it warn of itself, on a screen that may be the dashboard's."""
    warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)


class _Listener:
    """Receives watchdog's events and queues the paths in them. Never raises: that would end the observer's thread."""

    def __init__(self, root: Path, paths: queue.SimpleQueue[str | None]) -> None:
        self._root = os.fspath(root)
        self._paths = paths

    def dispatch(self, event: FileSystemEvent) -> None:
        """Queue what the event names, whatever its type."""
        if event.event_type in _QUIET_EVENTS or (
            event.is_directory and event.event_type not in _FOLDER_EVENTS
        ):
            return
        for raw in (event.src_path, getattr(event, "dest_path", "")):
            path = _relevant(self._root, os.fsdecode(raw), is_folder=event.is_directory) if raw else None
            if path is not None:
                self._paths.put(path)


def _relevant(root: str, path: str, *, is_folder: bool) -> str | None:
    """The path relative to the root when a change there can matter, else None."""
    relative = os.path.relpath(path, root).replace(os.sep, "/")
    if relative == ".":
        return ROOT if is_folder and not Path(root).is_dir() else None
    *folders, name = relative.split("/")
    if relative.startswith("../") or any(is_skipped_folder(folder) for folder in folders):
        return None
    if is_folder:
        return None if is_skipped_folder(name) else relative
    stub = placeholder_of(name)
    if stub is not None:
        return "/".join([*folders, stub])
    return relative if is_note_name(name) else None


def _why_not_native(error: OSError | RecursionError) -> str:
    if isinstance(error, RecursionError) or error.errno == errno.ENAMETOOLONG:
        return "folders lie deeper in each other than the system's file events reach"
    if error.errno == errno.ENOSPC:
        return (
            "the system's limit of watched folders is reached; raise it with"
            " `sudo sysctl fs.inotify.max_user_watches=524288`"
        )
    if error.errno == errno.EMFILE:
        return (
            "the system's limit of watchers is reached; raise it with"
            " `sudo sysctl fs.inotify.max_user_instances=512`"
        )
    return f"the system gives no file events here ({error})"


class _Alarm(logging.Handler):
    """watchdog tells a queue overflow only in its log: then everything may have changed."""

    def __init__(self, paths: queue.SimpleQueue[str | None]) -> None:
        super().__init__(logging.WARNING)
        self._paths = paths

    def emit(self, record: logging.LogRecord) -> None:
        """Name the whole root."""
        self._paths.put(ROOT)
