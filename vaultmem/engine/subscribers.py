"""Who is told what happens. The journal hears of it, too, from a process that may write it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from vaultmem.engine import journal
from vaultmem.events import Event

if TYPE_CHECKING:
    from vaultmem.stores.caches import Caches

Subscriber = Callable[[Event], None]


class Subscribers:
    """Everybody who wants to know what the engine does, told in the thread in which it happened."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: list[Subscriber] = []

    def subscribe(self, callback: Subscriber) -> Callable[[], None]:
        """Call `callback` with every event from now on; returns the way to end that."""
        with self._lock:
            self._callbacks.append(callback)

        def unsubscribe() -> None:
            with self._lock:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)

        return unsubscribe

    def tell(self, event: Event, caches: Caches | None = None) -> None:
        """Tell everybody; with `caches`, open for writing, put it on record first.

        A subscriber that fails is logged and does not stop the engine.
        """
        if caches is not None:
            journal.write(caches.catalog, event)
        with self._lock:
            callbacks = tuple(self._callbacks)
        for callback in callbacks:
            try:
                callback(event)
            except Exception:
                logging.getLogger("vaultmem").exception("a subscriber failed on %s", type(event).__name__)
