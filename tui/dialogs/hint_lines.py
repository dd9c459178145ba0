"""The exact lines an agent would be given."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from tui.dialogs.dialog import Dialog
from tui.messages import CopyAsked
from tui.widgets.key_bar import KeyBar


class HintLinesDialog(Dialog[None]):
    """Shows the block, and copies it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy", "Copy"),
        Binding("escape", "cancel", "Close"),
        Binding("l,enter", "cancel", "Close", show=False),
    ]

    def __init__(self, block: str) -> None:
        super().__init__()
        self._block = block

    def compose(self) -> ComposeResult:
        """The block as it is, unwrapped where the window is wide enough."""
        nothing = "Nothing: the agent is told nothing at all, not even that nothing was found."
        with Vertical(classes="dialog -wide"):
            yield Static("What the agent would be given", classes="dialog-title", markup=False)
            with VerticalScroll(classes="dialog-list"):
                yield Static(self._block or nothing, id="hint-block", markup=False)
            yield KeyBar()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There must be something to copy."""
        return bool(self._block) if action == "copy" else True

    def action_copy(self) -> None:
        """Copy the block."""
        self.app.post_message(CopyAsked(self._block, "hint lines"))
