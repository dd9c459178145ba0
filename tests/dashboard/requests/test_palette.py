"""The palette knows everything by name."""

from __future__ import annotations

from tests.dashboard.steps import ready
from tui.dialogs.rename_tag import RenameTagDialog
from tui.testing.driving import until

SIZE = (110, 34)


async def test_the_palette_knows_the_commands(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("ctrl+p", *"rename", "enter")
        await until(pilot, lambda: isinstance(app.screen, RenameTagDialog))
