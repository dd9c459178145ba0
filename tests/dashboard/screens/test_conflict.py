"""Notes that share one id, beside each other: each copy where it belongs."""

from __future__ import annotations

import pytest

from tests.dashboard.steps import open_conflict, ready
from tui.screens.conflict import ConflictScreen
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file
from tui.widgets.rows import Rows


@pytest.mark.parametrize("names", ["ab", "ba", "abc", "cab"])
async def test_each_copy_stands_on_the_same_side_above_and_below(open_dashboard, names, monkeypatch):
    files = {f"{name}.md": note_file("Sample", id="same", body=f"only in {name}\n") for name in names}
    engine = FakeEngine(files)
    copies = sorted(engine.copies("same"), key=lambda copy: names.index(copy.path[0]))
    monkeypatch.setattr(engine, "copies", lambda _: tuple(copies))
    app = open_dashboard(engine)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await open_conflict(app, pilot, "same")
        for _ in range(len(names) + 1):
            shown = {card.path: str(card.content).split("\n", 1)[0] for card in screen.query("CopyCard")}
            cards = [path for path, role in shown.items() if role]
            titles = [column.title for column in screen.query_one(Rows).columns[1:]]
            assert titles == [f"{shown[path]}: {path}" for path in cards]
            assert sorted(role for role in shown.values() if role) == ["▶ chosen", "◇ compared with"]
            differing = next(pair for pair in screen._compared if pair.left.startswith("only in"))
            assert [differing.left, differing.right] == [f"only in {path[0]}" for path in cards]
            await pilot.press("right")


async def test_three_notes_with_one_id_are_three_rows(open_dashboard):
    files = {f"2026/05/week2/{name}.md": note_file("Sample", id="same", description="d") for name in "abc"}
    app = open_dashboard(FakeEngine(files))
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app, pilot)
        await pilot.press("2", "down", "c")
        await until(
            pilot, lambda: isinstance(app.screen, ConflictScreen) and len(app.screen.query("CopyCard")) == 3
        )
        assert "3 notes" in screen_text(app)
