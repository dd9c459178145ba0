"""watchdog's observer for Linux, made to speak up where it keeps silent.

Folders that the system refuses to watch, because its limit is reached or they lie too deep, are left out without a
word; the thread that reads the events may die while everything else of the observer lives on. Both are facts here.
Beside `watch` the only module that imports watchdog, and imported by it alone.
"""

from __future__ import annotations

import errno
import logging

from watchdog.observers.api import BaseObserver
from watchdog.observers.inotify import InotifyEmitter
from watchdog.observers.inotify_c import CallbackId, InotifyFD, Mask, WatchCallback, WatchDescriptor

_LIMITS = (errno.ENOSPC, errno.ENOMEM, errno.ENAMETOOLONG)
"""Not of a folder that vanished, but of one that stays without a watch."""


class Watches(InotifyFD):
    """The watched folders of one observer, and the thread that reads their events."""

    def __init__(self) -> None:
        super().__init__()
        self.refusal: OSError | None = None

    def add_callback(
        self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId
    ) -> WatchDescriptor:
        """Watch a folder; that the system has no room for it, or for its path, is remembered."""
        try:
            return super().add_callback(path, mask, callback, id_)
        except OSError as error:
            if error.errno in _LIMITS:
                self.refusal = error
            raise

    def run(self) -> None:
        """Read events until the end; an error is for the log, and whoever asks `is_alive` starts anew."""
        try:
            super().run()
        except Exception:
            logging.getLogger("vaultmem").exception("watching for changes ended")


class Observer(BaseObserver):
    """Like watchdog's own, but on watches that can be asked how they are. Raises OSError where there are none."""

    def __init__(self, timeout: float) -> None:
        self.watches = Watches()
        self.watches.start()
        super().__init__(InotifyEmitter, timeout=timeout, inotify_fd=self.watches)

    def on_thread_stop(self) -> None:
        """Let go of every watch."""
        super().on_thread_stop()
        self.watches.stop()
        self.watches.join(timeout=2.0)
