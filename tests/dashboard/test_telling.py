"""What the tabs say of notes: where a date comes from, which of two namesakes it is."""

from __future__ import annotations

import pytest

from tests.dashboard.steps import ready, undated
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file
from tui.widgets.rows import Rows


async def test_the_preview_says_where_a_date_comes_from_and_the_chart_what_has_none(open_dashboard):
    engine = FakeEngine(
        {
            "2026-05-12-named.md": undated("named"),
            "2026/05/week1/folder.md": undated("folder"),
            "nothing.md": undated("nothing"),
            "own.md": note_file("own", id="own", day="2026-05-14"),
        }
    )
    app = open_dashboard(engine)
    async with app.run_test(size=(160, 40)) as pilot:
        await ready(app, pilot)
        await until(pilot, lambda: "Memories per week  1 without a date" in screen_text(app))
        await pilot.press("4")
        for told in (
            "made 2026-05-14, updated 2026-05-14",
            "made 2026-05-12 (by its file name), ",
            "made about 2026-05-01 (by its folder), ",
            "no date, ",
        ):
            await until(pilot, lambda told=told: told in screen_text(app))
            await pilot.press("down")


@pytest.mark.parametrize("width", [80, 100, 120])
async def test_two_notes_of_one_name_can_be_told_apart_in_memories_and_in_recall(open_dashboard, width):
    name = "How the context cache is ordered when several layers change"
    files = {
        f"2026/05/week2/2026-05-{day}-cache-order.md": note_file(
            name, id=f"mem_{day}", description="alpha", day=f"2026-05-{day}"
        )
        for day in (11, 12)
    }
    app = open_dashboard(FakeEngine({**files, "c.md": note_file("Alone", id="c", description="alpha")}))
    async with app.run_test(size=(width, 34)) as pilot:
        await ready(app, pilot)
        for keys, table in ((("4",), "memories"), (("3", *"alpha", "escape"), "candidates")):
            await pilot.press(*keys)
            await until(pilot, lambda table=table: len(app.dashboard.query_one(f"#{table}", Rows).keys) == 3)
            rows = app.dashboard.query_one(f"#{table}", Rows)
            lines = [rows.render_line(at).text for at in range(1, 4)]
            assert [sum(f"{day}-" in line for line in lines) for day in (11, 12)] == [1, 1]
            assert [line for line in lines if "Alone" in line and "Alone  c" not in line]
