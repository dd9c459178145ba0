"""An engine that cannot be opened is said, and tried again."""

from __future__ import annotations

from tests.dashboard.stage import Stage
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


async def test_each_try_is_told_and_how_it_ended():
    stage = Stage()
    async with stage.run_test() as pilot:
        screen = FailedScreen("/vault", "the root [/] is gone", "Mount it.")
        stage.push_screen(screen)
        await until(pilot, lambda: "memory folder: /vault" in screen_text(stage))
        assert "the root [/] is gone" in screen_text(stage) and "→ Mount it." in screen_text(stage)
        await pilot.press("r", "enter")
        assert len(stage.told(FailedScreen.RetryAsked)) == 2 and "Trying again …" in screen_text(stage)
        screen.show("permission denied", "")
        await until(pilot, lambda: "Tried again just now." in screen_text(stage))
        assert "permission denied" in screen_text(stage) and "→" not in screen_text(stage)
