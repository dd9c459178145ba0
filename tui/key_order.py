"""Keys in their order: each is handled to its end before the next one is looked at.

Textual gives a key to the widget that has the focus when the key arrives. A person (or a slow line, or a pasted
script) who types on before the focus has moved would type into the wrong widget: `/` and the words of a filter, `t`
and a tag. So a key waits until the one before it, and all messages that came of it, have been handled.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message
from textual.screen import ModalScreen

if TYPE_CHECKING:
    from textual.app import App
    from textual.message_pump import MessagePump

LONGEST_WAIT_S = 3.0
"""A key that no end is heard of (its widget went away) stops the next one no longer than this."""

MOUNT_RETRY_S = 0.02
MOST_MOUNT_RETRIES = 50


class KeySettled(Message):
    """Follows a key through the same queues; where it arrives, the key has been."""

    def __init__(self, number: int, round_trip: int) -> None:
        self.number = number
        self.round_trip = round_trip
        super().__init__()


class KeyOrder:
    """The keys that wait, and the one under way."""

    def __init__(self, app: App[int]) -> None:
        self._app = app
        self._waiting: deque[events.Key | events.Paste] = deque()
        self._number = 0
        self._is_busy = False

    def must_wait(self, event: events.Key | events.Paste) -> bool:
        """A key came in. False: it is to be handled now, and the next ones wait for it."""
        if self._is_busy:
            self._waiting.append(event)
            return True
        self._is_busy = True
        self._number += 1
        return False

    def forget(self) -> None:
        """Those that wait shall not be handled at all."""
        self._waiting.clear()

    def follow(self, target: MessagePump) -> None:
        """The key was given to `target`: send the follower after it."""
        number = self._number
        if not target.post_message(KeySettled(number, 1)):
            self._release(number)
            return
        self._app.set_timer(LONGEST_WAIT_S, lambda: self._release(number))

    def settled(self, event: KeySettled) -> None:
        """The follower has come back. It goes a second time, after what the key's action has sent."""
        if event.number != self._number:
            return
        if event.round_trip == 1:
            if not (self._app.focused or self._app.screen).post_message(KeySettled(event.number, 2)):
                self._release(event.number)
        else:
            self._release(event.number)

    def _release(self, number: int, retries: int = 0) -> None:
        if number != self._number or not self._is_busy:
            return
        if self._waiting and retries < MOST_MOUNT_RETRIES and self._is_opening():
            self._app.set_timer(MOUNT_RETRY_S, lambda: self._release(number, retries + 1))
            return
        self._is_busy = False
        if self._waiting:
            self._app.post_message(self._waiting.popleft())

    def _is_opening(self) -> bool:
        """A dialog is on its way and has given the focus to nothing yet, or is about to close."""
        screen = self._app.screen
        is_closing = bool(getattr(screen, "wants_to_save", False))
        return is_closing or (
            isinstance(screen, ModalScreen) and screen.focused is None and screen.AUTO_FOCUS != ""
        )
