"""The tabs, and the line above them: what the engine is doing, and who writes."""

from __future__ import annotations

from textual.widgets import TextArea

from tests.dashboard.steps import asked, many_notes, ready
from tui.testing.driving import screen_text, until
from tui.testing.notes import NOW
from vaultmem.events import EmbeddingProgress, LockChanged

SIZE = (120, 34)


async def test_the_function_keys_reach_every_tab_from_every_box(open_dashboard):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        await asked(app, pilot, "al4?q")
        assert app.dashboard.query_one(TextArea).text == "al4?q"
        line = screen_text(app).splitlines()[-1]
        assert "f1–f5 Tabs" in line and "f8 Help" in line and "^q Quit" in line
        for at, tab in enumerate(("overview", "diagnostics", "recall", "memories", "activity"), 1):
            await pilot.press(f"f{at}")
            assert app.dashboard.query_one("#panes").current == f"{tab}-pane"
            await pilot.press("slash")
        await pilot.press("f8")
        await until(pilot, lambda: app.screen is not app.dashboard)


async def test_beside_another_writer_it_follows_and_says_so(engine, open_dashboard):
    engine.is_writer = False
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await until(pilot, lambda: "follows writer 4242" in screen_text(app))
        engine.is_writer = True
        engine.tell(LockChanged(NOW, is_writer=True))
        await until(pilot, lambda: "writes here" in screen_text(app))


async def test_embedding_shows_how_far_it_is(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        engine.state = "embedding"
        engine.tell(EmbeddingProgress(NOW, 120, 480, 42.0))
        await until(pilot, lambda: "120/480" in screen_text(app))
        assert "about 42 s left" in screen_text(app) and "━" in screen_text(app)
