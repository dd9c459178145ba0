"""Every tab has its list, and a way to it from each of its parts."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from tests.dashboard.steps import many_notes
from tui.testing.driving import screen_text, until
from tui.widgets.rows import Rows

SIZE = (120, 34)


@pytest.mark.parametrize("tab", ["2", "4", "5"])
async def test_a_filter_says_how_it_is_left(open_dashboard, tab):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.engine is not None and app.dashboard.shelf.notes)
        await pilot.press(tab, "slash")
        assert "esc To the list" in screen_text(app).splitlines()[-1]
        await pilot.press("z")
        line = screen_text(app).splitlines()[-1]
        assert "esc Clear" in line and "⏎ To the list" in line
        await pilot.press("escape", "escape")
        pane = app.dashboard.pane({"2": "diagnostics", "4": "memories", "5": "activity"}[tab])
        assert pane.query_one(pane.LIST).has_focus


async def test_escape_leads_from_the_parts_of_a_tab_to_its_list(open_dashboard):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.engine is not None and app.dashboard.shelf.notes)
        for part in ("#preview", "#places", "#tabs"):
            await pilot.press("4", "slash", *"note", "enter")
            app.screen.set_focus(app.dashboard.query_one(part))
            await pilot.press("escape")
            assert app.dashboard.query_one("#memories", Rows).has_focus
            assert app.dashboard.query_one("#memories-filter Input", Input).value.endswith("note")
