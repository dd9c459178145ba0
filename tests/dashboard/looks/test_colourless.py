"""Without colours, what colours say is said by bold, dim and reversed text."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from tui.looks.colourless import Colourless


@pytest.mark.parametrize(
    ("text", "ground", "is_dim"),
    [
        ("#d5d9e0", "#14171c", False),
        ("#888b90", "#14171c", True),
        ("#d9a56b", "#14171c", False),
        ("#23272e", "#faf8f4", False),
        ("#797b7d", "#faf8f4", True),
        ("#b3372f", "#faf8f4", False),
    ],
)
def test_what_colours_made_quiet_is_dim(text, ground, is_dim):
    segments = [Segment("x", Style(color=text, bgcolor=ground, underline=True))]
    (shown,) = Colourless().apply(segments, Color.parse(ground))
    assert shown.style is not None
    assert (shown.style.color, shown.style.bgcolor, shown.style.underline) == (None, None, True)
    assert bool(shown.style.dim) == is_dim


def test_what_a_click_does_is_kept():
    segments = [Segment("x", Style(color="red", meta={"@click": "app.bell"}))]
    (shown,) = Colourless().apply(segments, Color.parse("black"))
    assert shown.style is not None and shown.style.meta == {"@click": "app.bell"}
