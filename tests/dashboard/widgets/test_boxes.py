"""Boxes keep every character that is typed into them."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from tests.dashboard.stage import Stage
from tests.dashboard.steps import ready
from tui.panes.memories import MemoriesPane
from tui.widgets.boxes import LineInput, TextBox

SIZE = (110, 34)


async def test_a_filter_keeps_every_character_from_the_shortcuts(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "slash", *"q-u/t+1?")
        assert app.screen.query_one("#memories-filter Input", Input).value == "q-u/t+1?"
        assert app.screen.query_one(MemoriesPane).display


@pytest.mark.parametrize("box", [LineInput(), TextBox()], ids=["one line", "several lines"])
async def test_every_printable_key_is_the_box_s_own_and_no_other(box):
    stage = Stage(box)
    async with stage.run_test():
        for key, character in (("a", "a"), ("slash", "/"), ("plus", "+"), ("at", "@"), ("backslash", "\\")):
            assert box.check_consume_key(key, character)
        assert not box.check_consume_key("f3", None) and not box.check_consume_key("ctrl+q", None)
        assert not box.cursor_blink, "where nothing is animated"
