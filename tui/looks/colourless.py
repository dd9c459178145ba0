"""The screen without colours (`NO_COLOR`): signs, words, bold, dim, underlined and reversed text say everything.

Textual's own answer to `NO_COLOR` turns colours into greys, which are colours to a terminal all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter, Monochrome, NoColor

QUIET_CONTRAST = 0.55
"""Text that stands out from its ground by less than this share of what is possible is meant to be quiet: dim."""

CURSORS = {"list-cursor-text-style": "bold", "selection-text-style": "none"}
COLOURLESS_CURSORS = {
    "list-cursor-text-style": "bold reverse",
    "block-cursor-text-style": "bold reverse",
    "input-cursor-text-style": "reverse",
    "selection-text-style": "reverse",
}
"""Text styles, as variables of the style sheet, for what the themes tell by a ground."""


class Colourless(LineFilter):
    """Takes the colours out of each line; what they had made quiet becomes dim."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same text in the terminal's own two colours."""
        ground = background.rich_color
        return [
            Segment(text, _without_colour(style, ground) if style else style, control)
            for text, style, control in segments
        ]


@lru_cache(4096)
def _without_colour(style: Style, ground: RichColor) -> Style:
    plain = style.without_color + Style.from_meta(style.meta)
    return plain + Style(dim=True) if _is_quiet(style, ground) else plain


def _is_quiet(style: Style, ground: RichColor) -> bool:
    if style.color is None or style.bold or style.reverse:
        return False
    text = Color.from_rich_color(style.color).brightness
    below = Color.from_rich_color(style.bgcolor or ground).brightness
    possible = max(below, 1 - below)
    return abs(text - below) < QUIET_CONTRAST * possible


_COLOURLESS = Colourless()


def without_colour(filters: Sequence[LineFilter]) -> Sequence[LineFilter]:
    """The same filters, with this one in the place of Textual's greys."""
    return [*(each for each in filters if not isinstance(each, Monochrome | NoColor)), _COLOURLESS]
