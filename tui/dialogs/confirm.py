"""Asks before something that a person may not mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from tui.dialogs.dialog import Dialog
from tui.looks.formatting import lines
from tui.widgets.key_bar import KeyBar
from vaultmem.text.shown import harmless


class ConfirmDialog(Dialog[bool]):
    """A question with what it is about, yes and no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n", "answer(False)", "No"),
    ]

    def __init__(self, question: str, about: Sequence[str], note: str = "", yes: str = "Yes") -> None:
        super().__init__()
        self._question, self._about, self._note, self._yes = question, about, note, yes

    def compose(self) -> ComposeResult:
        """Question, list, note, buttons."""
        with Vertical(classes="dialog -small"):
            yield Static(self._question, classes="dialog-title", markup=False)
            with VerticalScroll(classes="dialog-list", can_focus=False):
                yield Static(lines([Content(harmless(each)) for each in self._about]))
            yield Static(self._note, classes="dialog-note", markup=False)
            with Horizontal(classes="dialog-buttons"):
                yield Button(self._yes, id="yes", variant="warning", compact=True)
                yield Button("No", id="no", compact=True)
            yield KeyBar()

    def on_mount(self) -> None:
        """No is what Enter answers."""
        self.screen.set_focus(self.query_one("#no", Button))

    def action_answer(self, is_yes: bool) -> None:
        """Answer."""
        self.dismiss(is_yes)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "yes")
