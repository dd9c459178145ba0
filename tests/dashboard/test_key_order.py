"""Keys are handled in their order, however fast they come."""

from __future__ import annotations

from textual import events

from tests.dashboard.steps import ready
from tui.testing.driving import until


async def test_keys_that_come_faster_than_the_screen_reach_what_they_are_meant_for(engine, open_dashboard):
    app = open_dashboard(engine)
    words = [
        "2",
        "slash",
        *"missing_desc",
        "enter",
        "down",
        "w",
        *"Hello",
        "enter",
        "4",
        "t",
        *"zz",
        "enter",
        "enter",
    ]
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app, pilot)
        for word in words:
            app.post_message(events.Key(word, word if len(word) == 1 else None))
        await until(pilot, lambda: any(b"- zz" in data or b" zz" in data for data in engine.files.values()))
        assert b"description: Hello\n" in engine.files["2026/05/week2/2026-05-14-redis.md"]
