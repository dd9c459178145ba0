"""What the engine did, newest first."""

from __future__ import annotations

from tests.dashboard.steps import ready
from tui.testing.driving import screen_text, until
from tui.testing.notes import NOW
from vaultmem.events import EngineFailed

SIZE = (110, 34)


async def test_a_failure_of_the_engine_shows_in_the_activity(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        engine.tell(EngineFailed(NOW, "the model [bold]cannot[/] be loaded", "Set VAULTMEM_EMBEDDER=none."))
        await until(pilot, lambda: "degraded" in screen_text(app))
        await pilot.press("5")
        await until(pilot, lambda: "the model [bold]cannot[/] be loaded" in screen_text(app))
