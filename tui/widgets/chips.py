"""Tags as chips: `✓ cache`, `+ new`, `− going`, `~ on some 3/10`.

Space and a click lead round the states of a chip; delete and backspace only ever take it off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from tui.looks.formatting import MUTED, lines
from tui.models.tag_draft import Chip
from vaultmem.text.shown import harmless


class Chips(Widget, can_focus=True):
    """The chips in as many lines as they need; one of them has the cursor while the widget has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", "Left", show=False),
        Binding("right", "move(1)", "Right", show=False),
        Binding("space", "turn", "Add/remove"),
        Binding("delete,backspace", "remove", "Remove", key_display="del"),
    ]
    ALLOW_SELECT = False
    chips: reactive[Sequence[Chip]] = reactive((), layout=True)
    index: reactive[int] = reactive(0)

    class Turned(Message):
        """A chip is to change."""

        def __init__(self, tag: str) -> None:
            self.tag = tag
            super().__init__()

    class Removed(Message):
        """A chip is to go, in whatever state it is."""

        def __init__(self, tag: str) -> None:
            self.tag = tag
            super().__init__()

    def validate_index(self, index: int) -> int:
        """Stay on a chip."""
        return max(0, min(index, len(self.chips) - 1))

    def watch_chips(self) -> None:
        """A chip may have gone from under the cursor."""
        self.index = self.index

    def action_move(self, steps: int) -> None:
        """Go to another chip."""
        self.index += steps

    def action_turn(self) -> None:
        """Change the chip under the cursor."""
        if self.chips:
            self.post_message(self.Turned(self.chips[self.index].tag))

    def action_remove(self) -> None:
        """Take the chip under the cursor off."""
        if self.chips:
            self.post_message(self.Removed(self.chips[self.index].tag))

    def on_click(self, event: events.Click) -> None:
        """Change the chip that was clicked."""
        event.stop()
        for index, (x, y, text) in enumerate(self._laid_out(self.size.width)):
            if y == event.y and x <= event.x < x + text.cell_length:
                self.index = index
                self.action_turn()
                return

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as the chips need."""
        laid_out = self._laid_out(width)
        return laid_out[-1][1] + 1 if laid_out else 1

    def _laid_out(self, width: int) -> list[tuple[int, int, Content]]:
        x = y = 0
        placed = []
        for index, chip in enumerate(self.chips):
            text = _drawn(chip, self.has_focus and index == self.index)
            if x and x + text.cell_length > width:
                x, y = 0, y + 1
            placed.append((x, y, text))
            x += text.cell_length + 1
        return placed

    def render(self) -> Content:
        """The chips."""
        placed = self._laid_out(self.size.width)
        if not placed:
            return Content.styled("no tags", MUTED)
        rows: list[Content] = [Content("")] * (placed[-1][1] + 1)
        for x, y, text in placed:
            rows[y] = rows[y] + Content(" " * (x - rows[y].cell_length)) + text
        return lines(rows)


def _drawn(chip: Chip, has_cursor: bool) -> Content:
    share = f" {chip.on}/{chip.total}" if chip.total > 1 and chip.on < chip.total else ""
    if chip.is_removed:
        mark, style = "−", "$text-error on $error 15% strike"
    elif chip.is_added:
        mark, style = "+", "$text-success on $success 15%"
    elif chip.on < chip.total:
        mark, style = "~", "$text-warning on $warning 15%"
    else:
        mark, style = "✓", "$text-secondary on $secondary 15%"
    if has_cursor:
        style += " reverse"
    return Content.styled(f" {mark} {harmless(chip.tag)}{share} ", style)
