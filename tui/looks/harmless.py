"""The last look at what is drawn: nothing in it is acted on by the terminal, wherever it came from.

What a widget shows is made harmless where it is made; a widget that somebody else wrote (Markdown, a box to type into)
draws what it is given.
"""

from __future__ import annotations

from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from vaultmem.text.shown import harmless_id


class Harmless(LineFilter):
    """Takes control, direction and invisible characters out of each line, and keeps its width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same line, of letters alone."""
        if all(text.isprintable() for text, _, _ in segments):
            return segments
        return [
            Segment(text if control else _shown(text), style, control) for text, style, control in segments
        ]


@lru_cache(4096)
def _shown(text: str) -> str:
    return "".join(each if harmless_id(each) == each else " " * cell_len(each) for each in text)


HARMLESS = Harmless()
