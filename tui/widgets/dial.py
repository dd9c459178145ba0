"""A small setting that is turned with keys or the mouse: `threshold ‹ 0.50 ›`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from tui.looks.formatting import MUTED


class Dial(Widget, can_focus=True):
    """One of several values, in order."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,minus", "turn(-1)", "Less"),
        Binding("right,plus,space,enter", "turn(1)", "More"),
        Binding("pagedown", "turn(-10)", "Much less", show=False),
        Binding("pageup", "turn(10)", "Much more", show=False),
    ]
    ALLOW_SELECT = False
    index: reactive[int] = reactive(0, layout=True)

    class Turned(Message):
        """Another value."""

        def __init__(self, dial: Dial) -> None:
            self.dial = dial
            super().__init__()

        @property
        def control(self) -> Dial:
            """The dial."""
            return self.dial

    def __init__(
        self, label: str, values: Sequence[str], value: str, *, id: str, wraps: bool = False
    ) -> None:
        super().__init__(id=id)
        self.label = label
        self.values = tuple(values)
        self.wraps = wraps
        self.set_reactive(Dial.index, self.values.index(value) if value in self.values else 0)

    @property
    def value(self) -> str:
        """The value it stands at."""
        return self.values[self.index]

    def set_value(self, value: str) -> None:
        """Turn it to a value, if it has it."""
        if value in self.values:
            self.index = self.values.index(value)

    def validate_index(self, index: int) -> int:
        """Stop at the ends, or go round."""
        return index % len(self.values) if self.wraps else max(0, min(index, len(self.values) - 1))

    def watch_index(self, old: int, new: int) -> None:
        """Tell."""
        if self.is_mounted:
            self.post_message(self.Turned(self))

    def action_turn(self, steps: int) -> None:
        """Turn it."""
        self.index += steps

    def on_click(self, event: events.Click) -> None:
        """The left half turns back, the right half on."""
        event.stop()
        self.action_turn(-1 if event.x < len(self.label) + 3 else 1)

    def get_content_width(self, container: object, viewport: object) -> int:
        """As wide as its widest value."""
        return len(self.label) + 5 + max(len(value) for value in self.values)

    def render(self) -> Content:
        """Label and value."""
        style = "$foreground bold" if not self.has_focus else "$block-cursor-foreground on $primary 40% bold"
        if self.has_focus and self.app.no_color:
            style += " reverse"
        arrows = "$text-accent" if self.has_focus else "$foreground 40%"
        return Content.assemble(
            (f"{self.label} ", MUTED), ("‹ ", arrows), (self.value, style), (" ›", arrows)
        )
