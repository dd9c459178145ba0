"""A tag is renamed over the whole vault, after a preview."""

from __future__ import annotations

from tests.dashboard.steps import CACHE, ready, with_line
from tui.dialogs.rename_tag import RenameTagDialog
from tui.testing.driving import screen_text, until

SIZE = (110, 40)


async def test_a_rename_outlives_a_change_of_a_note(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("R")
        await until(pilot, lambda: isinstance(app.screen, RenameTagDialog))
        await pilot.press(*"project", "enter", *"proj")
        await until(pilot, lambda: "2 notes will change" in screen_text(app))
        engine.put(CACHE, with_line(engine.files[CACHE]))
        await until(pilot, lambda: "▲ 1 changed outside" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: engine.tags().get("proj/march") == 2)
        assert b"from Obsidian" in engine.files[CACHE]


async def test_a_tag_is_renamed_over_the_vault_with_a_preview(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("R")
        await until(pilot, lambda: isinstance(app.screen, RenameTagDialog))
        await pilot.press(*"project", "enter", *"proj")
        await until(pilot, lambda: "2 notes will change" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "proj/march" in engine.tags())
