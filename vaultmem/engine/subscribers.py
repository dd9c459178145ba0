"""Subscribers to what happens, and the persistent record of the recent past."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from vaultmem.events import Event

Subscriber = Callable[[Event], None]


class Hub:
    """Tells every subscriber every event, in the thread in which it happened."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._subscribers: list[Subscriber] = []

    def subscribe(self, callback: Subscriber) -> Callable[[], None]:
        """Call `callback` with every event from now on; returns the way to end that."""
        with self._lock:
            self._subscribers.append(callback)

        def unsubscribe() -> None:
            with self._lock:
                if callback in self._subscribers:
                    self._subscribers.remove(callback)

        return unsubscribe

    def tell(self, event: Event) -> None:
        """Tell everybody. A subscriber that fails is logged and does not stop the engine."""
        with self._lock:
            subscribers = tuple(self._subscribers)
        for callback in subscribers:
            try:
                callback(event)
            except Exception:
                logging.getLogger("vaultmem").exception("a subscriber failed on %s", type(event).__name__)
