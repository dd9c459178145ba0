"""Writing a description: what was typed last is what is saved."""

from __future__ import annotations

from tests.dashboard.steps import CACHE, REDIS, go_to_finding, open_dialog, ready
from tui.dialogs.describe import DescribeDialog, LineBox
from tui.testing.driving import until
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
