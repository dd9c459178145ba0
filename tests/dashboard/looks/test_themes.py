"""Two themes of our own, in which every text can be read."""

from __future__ import annotations

import pytest
from textual.color import Color
from textual.theme import Theme

from tui.looks.preferences import theme_for_terminal
from tui.looks.themes import THEMES

TEXTS = ("foreground", "primary", "secondary", "accent", "warning", "error", "success")


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio."""
    light, dark = sorted((luminance(Color.parse(colour)) for colour in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: Color) -> float:
    parts = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
    )
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def test_one_is_for_dark_terminals_and_one_for_light_ones():
    environs = ({"COLORFGBG": "15;0"}, {"COLORFGBG": "0;15"})
    assert [(theme.name, theme.dark) for theme in THEMES] == [
        (theme_for_terminal(environ), is_dark)
        for environ, is_dark in zip(environs, (True, False), strict=True)
    ]


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("text", TEXTS)
def test_every_colour_for_text_stands_out_from_the_ground(theme: Theme, text: str):
    assert contrast(getattr(theme, text), theme.background or "") >= 4.5


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_the_row_under_the_cursor_can_be_read(theme: Theme):
    variables = theme.variables
    assert contrast(variables["block-cursor-foreground"], variables["block-cursor-background"]) >= 7
