"""Events of the engine come to the app together."""

from __future__ import annotations

from datetime import UTC, datetime

from tui.inbox import COALESCE_S, Inbox
from vaultmem.events import NoteEdited

AT = datetime(2026, 5, 20, tzinfo=UTC)
ONE, TWO, THREE = (NoteEdited(AT, path, "tags") for path in ("a.md", "b.md", "c.md"))


class App:
    """As much of an app as an inbox needs; a test lets its timers ring."""

    def __init__(self) -> None:
        self.is_running = True
        self.timers: list = []
        self.told: list = []

    def set_timer(self, delay_s, callback):
        assert delay_s == COALESCE_S
        self.timers.append(callback)

    def call_later(self, call, *arguments):
        call(*arguments)

    def post_message(self, message):
        self.told.append(message.events)

    def ring(self):
        timers, self.timers = self.timers, []
        for timer in timers:
            timer()


def test_events_of_one_moment_are_handed_over_together_and_once():
    app = App()
    inbox = Inbox(app)  # type: ignore[arg-type]
    inbox.add(ONE)
    inbox.add(TWO)
    assert app.told == []
    app.ring()
    assert app.told == [(ONE, TWO)]
    inbox.add(THREE)
    app.ring()
    assert app.told == [(ONE, TWO), (THREE,)]


def test_an_app_that_has_ended_is_told_nothing():
    app = App()
    app.is_running = False
    Inbox(app).add(ONE)  # type: ignore[arg-type]
    app.ring()
    assert app.told == []
