"""The lines that an agent would be given, exactly."""

from __future__ import annotations

from tests.dashboard.steps import ready
from tui.dialogs.hint_lines import HintLinesDialog
from tui.testing.driving import screen_text, until

SIZE = (110, 34)


async def test_the_exact_hint_lines_are_shown_and_copied(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("3", *"stable layers", "escape")
        await until(pilot, lambda: "● hinted" in screen_text(app))
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, HintLinesDialog))
        assert "- mem_cache_order | score=" in screen_text(app)
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard.startswith("[recall]\n- mem_cache_order | score="))
