"""One line to type a filter into, with a note at its right end."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from tui.models.shelf import words
from tui.widgets.boxes import LineInput


class FilterInput(LineInput):
    """Enter is for the list below."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", "To the list")]


class FilterBar(Horizontal):
    """Enter and down leave it for the list, escape empties it first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "empty", "Clear", key_display="esc"),
        Binding("escape", "leave", "To the list", key_display="esc"),
        Binding("down", "leave", "To the list", show=False),
    ]

    class Left(Message):
        """The person is done typing."""

    def __init__(self, placeholder: str, *, id: str) -> None:
        super().__init__(id=id)
        self._placeholder = placeholder

    def compose(self) -> ComposeResult:
        """A sign, the text, the note."""
        yield Static("/", classes="filter-sign", markup=False)
        yield FilterInput(placeholder=self._placeholder, compact=True, classes="filter-input")
        yield Static("", classes="filter-note", markup=False)

    @property
    def value(self) -> str:
        """The text."""
        return self.query_one(Input).value

    @value.setter
    def value(self, text: str) -> None:
        self.query_one(Input).value = text

    @property
    def words(self) -> tuple[str, ...]:
        """The words that all have to occur, case folded."""
        return words(self.value)

    @property
    def note(self) -> str:
        """What stands at the right end."""
        return str(self.query_one(".filter-note", Static).content)

    @note.setter
    def note(self, text: str) -> None:
        self.query_one(".filter-note", Static).update(text)

    def start(self) -> None:
        """Type here."""
        self.screen.set_focus(self.query_one(Input))

    def clear(self) -> None:
        """Empty the text."""
        self.query_one(Input).value = ""

    def action_leave(self) -> None:
        """Go on to the list."""
        self.post_message(self.Left())

    def action_empty(self) -> None:
        """Empty the filter; the next escape leaves it."""
        self.clear()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There must be something to empty."""
        return bool(self.value) if action == "empty" else True

    @on(Input.Changed)
    def _typed(self) -> None:
        self.refresh_bindings()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Left())

    def on_click(self, event: events.Click) -> None:
        """A click anywhere starts typing."""
        self.start()
