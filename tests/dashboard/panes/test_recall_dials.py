"""What a prompt is asked with, turned from anywhere in the tab."""

from __future__ import annotations

from dataclasses import replace

from textual.widgets import Input

from tests.dashboard.stage import Stage
from tests.dashboard.steps import asked, many_notes, ready
from tui.models.preview import Settings
from tui.panes.recall_dials import RecallDials
from tui.testing.driving import screen_text, until
from tui.widgets.dial import Dial

SIZE = (120, 34)


async def test_escape_in_a_setting_changes_nothing(open_dashboard):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        await asked(app, pilot, "alpha")
        before = [dial.value for dial in app.dashboard.query(Dial)]
        await pilot.press("escape", "p", *"x1", "escape")
        assert app.dashboard.query_one("#project", Input).value == "x1"
        assert [dial.value for dial in app.dashboard.query(Dial)] == before


async def test_settings_change_the_answer_at_once(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("3", *"cache stable layers", "escape")
        await until(pilot, lambda: "hinted" in screen_text(app))
        await pilot.press(*["right_square_bracket"] * 10)
        await until(pilot, lambda: "short of the threshold" in screen_text(app))
        await pilot.press("h")
        await until(pilot, lambda: "no hint; h shows" in screen_text(app))


async def test_an_assistant_turn_does_not_repeat_what_the_user_turn_gave(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("3", *"stable layers", "escape")
        await until(pilot, lambda: "● hinted" in screen_text(app))
        await pilot.press("v")
        await until(pilot, lambda: "◐ given" in screen_text(app))
        assert "limit ‹ 2 ›" in screen_text(app)


async def test_the_settings_are_what_the_dials_stand_at():
    dials = RecallDials(Settings(min_score=0.35, limit=7))
    stage = Stage(dials)
    async with stage.run_test() as pilot:
        given = Settings(given=("a", "b"), budget_chars=99)
        assert dials.applied_to(given) == replace(given, min_score=0.35, limit=7)
        dials.turn("threshold", -40)
        dials.turn("turn", 1)
        dials.type_project()
        await pilot.press(*" march ", "enter")
        applied = dials.applied_to(given)
        assert (applied.min_score, applied.project, applied.is_assistant) == (0.0, "march", True)
        assert (applied.suppressed, applied.limit) == ({"a", "b"}, 7), "a limit that a person set stays"
        assert len(stage.told(RecallDials.Left)) == 1


async def test_an_assistant_turn_has_its_own_usual_limit_and_asks_once():
    dials = RecallDials(Settings())
    stage = Stage(dials)
    async with stage.run_test() as pilot:
        for limit in (2, 3):
            dials.turn("turn", 1)
            await pilot.pause()
            assert dials.applied_to(Settings()).limit == limit
        assert len(stage.told(RecallDials.Turned)) == 2
        dials.turn("show", 1)
        await pilot.pause()
        assert dials.shows_hints_alone
        assert (len(stage.told(RecallDials.Turned)), len(stage.told(RecallDials.Narrowed))) == (2, 1)
