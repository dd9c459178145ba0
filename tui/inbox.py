"""Events of the engine on their way to the app: gathered in the engine's threads, handed over together."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tui.messages import EngineTold

if TYPE_CHECKING:
    from textual.app import App

    from vaultmem.events import Event

COALESCE_S = 0.1
"""Events are handed over at most ten times a second."""


class Inbox:
    """The events that wait. `add` is called by any thread, the app gets an `EngineTold` for all of them."""

    def __init__(self, app: App[int]) -> None:
        self._app = app
        self._waiting: list[Event] = []
        self._lock = threading.Lock()

    def add(self, event: Event) -> None:
        """An event waits until the next handing over."""
        with self._lock:
            self._waiting.append(event)
            is_first = len(self._waiting) == 1
        if is_first and self._app.is_running:
            self._app.call_later(self._app.set_timer, COALESCE_S, self._hand_over)

    def _hand_over(self) -> None:
        with self._lock:
            events, self._waiting = tuple(self._waiting), []
        if events:
            self._app.post_message(EngineTold(events))
