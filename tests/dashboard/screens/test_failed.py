"""An engine that cannot be opened is said, and tried again."""

from __future__ import annotations

from tests.dashboard.steps import ready
from tui.screens.failed import FailedScreen
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from vaultmem.errors import RootMissingError

SIZE = (110, 34)


async def test_an_engine_that_fails_to_start_is_said_and_tried_again(engine, open_dashboard):
    tries = iter([RootMissingError("the memory root /x is gone", advice="Mount it."), None])

    def open_engine() -> FakeEngine:
        if error := next(tries):
            raise error
        return engine

    app = open_dashboard(open_engine)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, FailedScreen))
        assert "the memory root /x is gone" in screen_text(app) and "Mount it." in screen_text(app)
        await pilot.press("r")
        await ready(app, pilot)
