"""The notice that stands over everything while the window is too small."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Static

LEAST_COLUMNS, LEAST_LINES = 60, 15
"""Nothing is laid out for less: `app.tcss` keeps the outermost widgets of each screen from shrinking further."""


def is_too_small(size: Size) -> bool:
    """Whether a window of this size shows the notice and nothing else."""
    return size.width < LEAST_COLUMNS or size.height < LEAST_LINES


def cover(screens: Iterable[Screen[object]], is_covered: bool) -> None:
    """Put the notice over every screen, or take it away. Each has its own, from the first time it is needed."""
    for screen in screens:
        if is_covered and screen.is_attached and not screen.query(TooSmall):
            screen.mount(TooSmall())
        screen.set_class(is_covered, "-too-small")


class TooSmall(Static):
    """What is beneath keeps its place, its focus and its text."""

    def __init__(self) -> None:
        super().__init__(id="too-small")

    def on_resize(self) -> None:
        """Say how small it is."""
        size = self.app.size
        lines = (
            f"This window is {size.width} × {size.height}.",
            f"The dashboard needs {LEAST_COLUMNS} × {LEAST_LINES}.",
            "ctrl+q quits.",
        )
        self.update(Content("\n".join(lines)))
