"""Writing a description: what was typed last is what is saved."""

from __future__ import annotations

from textual import events

from tests.dashboard.stage import Stage
from tests.dashboard.steps import CACHE, REDIS, go_to_finding, open_dialog, ready
from tui.dialogs.describe import DescribeDialog, LineBox
from tui.models.preview import Settings
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file
from vaultmem.notes.parse import parse_note

SIZE = (110, 40)


async def test_a_description_that_nobody_touched_follows_its_note(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await open_dialog(app, pilot, "w", DescribeDialog)
        engine.put(CACHE, engine.files[CACHE].replace(b"Layers that change", b"What changes"))
        await until(pilot, lambda: app.screen.query_one(LineBox).text.startswith("What changes"))


async def test_what_was_typed_last_is_what_is_saved(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await go_to_finding(app, pilot, "missing_description")
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, DescribeDialog))
        await pilot.press(*"Redis -/+", "enter")
        await until(pilot, lambda: parse_note(REDIS, engine.files[REDIS]).description == "Redis -/+")


def stage_on(files: dict[str, bytes]) -> tuple[Stage, FakeEngine]:
    engine = FakeEngine(files)
    return Stage(engine=engine), engine


async def test_pasted_lines_become_one_and_a_long_one_says_where_a_hint_ends():
    stage, engine = stage_on({"a.md": note_file("A", id="a")})
    stage.settings = Settings(description_width=100)
    async with stage.run_test() as pilot:
        stage.push_screen(DescribeDialog("Description", engine.notes()[0]))
        await until(pilot, lambda: stage.screen.query_one(LineBox).has_focus)
        stage.post_message(events.Paste("one\n  two\n" + "x" * 160))
        await until(pilot, lambda: "168 characters, a hint shows the first 100" in screen_text(stage))
        assert stage.screen.query_one(LineBox).text.startswith("one two x")


async def test_nothing_is_saved_where_nothing_was_written():
    stage, engine = stage_on({"a.md": note_file("A", id="a")})
    async with stage.run_test() as pilot:
        stage.push_screen(DescribeDialog("Description", engine.notes()[0]))
        await until(pilot, lambda: "Nothing to save yet." in screen_text(stage))
        await pilot.press("space", "enter")
        assert isinstance(stage.screen, DescribeDialog)
    assert "apply" not in engine.calls
