"""The engine could not start: what is wrong, what to do, and another try."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from tui.widgets.key_bar import KeyBar


class FailedScreen(Screen[None]):
    """Stays until the engine could be opened."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("r,enter", "retry", "Try again")]

    class RetryAsked(Message):
        """A person wants another try."""

    def __init__(self, root: str, message: str, advice: str) -> None:
        super().__init__()
        self._root, self._message, self._advice = root, message, advice

    def compose(self) -> ComposeResult:
        """Message and advice in the middle."""
        with Vertical(id="failed"):
            yield Static("✖ The engine could not start", id="failed-title", markup=False)
            yield Static(self._message, id="failed-message", markup=False)
            yield Static(f"→ {self._advice}" if self._advice else "", id="failed-advice", markup=False)
            yield Static(f"memory folder: {self._root}", id="failed-root", markup=False)
            yield Static("", id="failed-note", markup=False)
        yield KeyBar()

    def show(self, message: str, advice: str) -> None:
        """Another try ended the same way, or otherwise."""
        self.query_one("#failed-message", Static).update(message)
        self.query_one("#failed-advice", Static).update(f"→ {advice}" if advice else "")
        self.query_one("#failed-note", Static).update("Tried again just now.")

    def action_retry(self) -> None:
        """Try again."""
        self.query_one("#failed-note", Static).update("Trying again …")
        self.app.post_message(self.RetryAsked())
