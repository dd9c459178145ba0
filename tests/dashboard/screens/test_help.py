"""All keys on one page."""

from __future__ import annotations

import re

import pytest
from textual.binding import Binding

from tests.dashboard.stage import Stage
from tui.app import VaultmemApp
from tui.panes.activity import ActivityPane
from tui.panes.diagnostics import DiagnosticsPane
from tui.panes.memories import MemoriesPane
from tui.panes.pane import NotePane
from tui.panes.recall import RecallPane
from tui.screens.dashboard import DashboardScreen
from tui.screens.help import SECTIONS, HelpScreen
from tui.testing.driving import screen_text, until

NAMES = {
    "question_mark": "?", "slash": "/", "escape": "esc", "minus": "−", "plus": "+",
    "left_square_bracket": "[", "right_square_bracket": "]", "left": "←", "right": "→",
}  # fmt: skip
"""Keys as the page writes them."""
PARTS = (VaultmemApp, DashboardScreen, NotePane, DiagnosticsPane, RecallPane, MemoriesPane, ActivityPane)


def keys_of(part: type) -> set[str]:
    bindings = [each for each in part.BINDINGS if isinstance(each, Binding)]
    return {NAMES.get(key := binding.key.split(",")[0], key) for binding in bindings}


@pytest.mark.parametrize("part", PARTS)
def test_every_key_of_the_app_and_its_tabs_is_on_the_page(part):
    told = {
        word for _, keys in SECTIONS for line in keys for words in line for word in re.split(r"[ ;,]+", words)
    }
    spans = {*"12345", *(f"f{at}" for at in range(1, 6))}  # the page says 1 – 5 and f1 – f5
    assert keys_of(part) - spans <= told


async def test_the_page_closes_with_any_of_the_keys_that_opened_it():
    stage = Stage()
    async with stage.run_test() as pilot:
        for key in ("question_mark", "q", "enter", "escape"):
            stage.push_screen(HelpScreen())
            await until(pilot, lambda: "Everywhere" in screen_text(stage))
            await pilot.press(key)
            assert not isinstance(stage.screen, HelpScreen)
