"""Boxes keep every character that is typed into them."""

from __future__ import annotations

from textual.widgets import Input

from tests.dashboard.steps import ready
from tui.panes.memories import MemoriesPane

SIZE = (110, 34)


async def test_a_filter_keeps_every_character_from_the_shortcuts(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "slash", *"q-u/t+1?")
        assert app.screen.query_one("#memories-filter Input", Input).value == "q-u/t+1?"
        assert app.screen.query_one(MemoriesPane).display
