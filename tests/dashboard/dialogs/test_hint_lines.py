"""The lines that an agent would be given, exactly."""

from __future__ import annotations

from tests.dashboard.stage import Stage
from tests.dashboard.steps import ready
from tui.dialogs.hint_lines import HintLinesDialog
from tui.messages import CopyAsked
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


async def test_where_no_hint_is_given_that_is_said_and_there_is_nothing_to_copy():
    stage = Stage()
    async with stage.run_test() as pilot:
        stage.push_screen(HintLinesDialog(""))
        await until(pilot, lambda: "Nothing: the agent is told nothing at all" in screen_text(stage))
        assert "y Copy" not in screen_text(stage)
        await pilot.press("y", "l")
        assert not isinstance(stage.screen, HintLinesDialog)
    assert not stage.told(CopyAsked)
