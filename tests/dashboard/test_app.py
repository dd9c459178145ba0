"""The app goes on whatever fails, and remembers what it is asked to."""

from __future__ import annotations

import pytest

from tests.dashboard.steps import ready
from tui.messages import CallFailed
from tui.testing.driving import screen_text, settled, until
from vaultmem.errors import StoreError

SIZE = (110, 34)


@pytest.mark.parametrize("call", ["notes", "diagnostics", "status", "freshness", "read_note", "recall"])
async def test_a_failing_call_becomes_a_message_and_the_rest_goes_on(engine, open_dashboard, call):
    engine.failing[call] = StoreError("the catalog is torn [/]", advice="Run `vaultmem sync`.")
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: call in engine.calls or app.engine)
        await pilot.press("4", "2", "3", *"cache", "escape")
        await until(pilot, lambda: call in engine.calls)
        await settled(app)
        engine.failing.clear()
        await pilot.press("5", "1", "2", "r")
        await until(pilot, lambda: "idle" in screen_text(app))
        assert app.is_running


async def test_the_theme_is_remembered(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        app.theme = "vaultmem-light"
        await pilot.pause()
        assert app.preferences.theme() == "vaultmem-light"


async def test_the_same_failure_is_said_once_and_another_one_at_once(engine, open_dashboard):
    app = open_dashboard(engine)
    said: list[tuple[str, str]] = []
    app.say = lambda message, *, title="", severity="information": said.append((title, message))
    for message in ("torn", "torn", "gone", "torn"):
        app.on_call_failed(CallFailed("reading the notes", message, ""))
    app.on_call_failed(CallFailed("recalling", "torn", "Sync."))
    assert said == [
        ("✖ reading the notes", "torn"),
        ("✖ reading the notes", "gone"),
        ("✖ recalling", "torn Sync."),
    ]
