"""Memories: every note, narrowed and sorted, and the one under the cursor beside it."""

from __future__ import annotations

import pytest

from tests.dashboard.stage import Stage
from tui.messages import TagsAsked
from tui.models.shelf import Place, Shelf
from tui.panes.memories import MemoriesPane
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file
from tui.widgets.filter_bar import FilterBar
from tui.widgets.note_view import NotePreview
from tui.widgets.places import PlaceTree
from tui.widgets.rows import Rows

SIZE = (160, 30)


@pytest.fixture
def engine() -> FakeEngine:
    """Three notes of three days, in two weeks."""
    return FakeEngine(
        {
            "2026/05/week1/b.md": note_file("Bee", id="b", tags=["x"], day="2026-05-03", body="About bees."),
            "2026/05/week2/a.md": note_file("ant", id="a", tags=["y"], day="2026-05-12", body="About ants."),
            "2026/05/week2/c.md": note_file("Cat", id="c", day="2026-05-11", body="About cats."),
        }
    )


async def staged(stage: Stage, pilot, engine: FakeEngine) -> MemoriesPane:
    pane = stage.query_one(MemoriesPane)
    pane.show_shelf(Shelf.of(engine.notes()))
    pane.enter()
    await until(pilot, lambda: stage.query_one("#memories", Rows).has_focus)
    return pane


def listed(stage: Stage) -> str:
    return "".join(path[-4] for path in stage.query_one("#memories", Rows).keys)


async def test_notes_are_narrowed_by_words_and_by_places_and_escape_shows_all_again(engine):
    stage = Stage(MemoriesPane(id="memories-pane"), engine=engine)
    async with stage.run_test(size=SIZE) as pilot:
        pane = await staged(stage, pilot, engine)
        assert listed(stage) == "acb"
        await pilot.press("slash", *"week2", "enter")
        assert (listed(stage), pane.query_one(FilterBar).note) == ("ac", "2 of 3")
        pane.show_tag("x")
        await until(pilot, lambda: listed(stage) == "b")
        assert pane.query_one(FilterBar).note == "x · 1 of 3"
        await pilot.press("escape")
        assert listed(stage) == "acb"
        tree = pane.query_one(PlaceTree)
        tree.focus()
        year = next(node for node in tree._tree_nodes.values() if node.data == Place("time", "2026"))
        await until(pilot, lambda: year.line > 0)
        tree.move_cursor(year)
        await pilot.press("enter")
        await until(pilot, lambda: pane.query_one(FilterBar).note == "2026 · 3 of 3")


async def test_notes_are_sorted_by_keys_and_by_a_click_on_a_title(engine):
    stage = Stage(MemoriesPane(id="memories-pane"), engine=engine)
    async with stage.run_test(size=SIZE) as pilot:
        await staged(stage, pilot, engine)
        rows = stage.query_one("#memories", Rows)
        for key, order, mark in (
            ("S", "bca", ("updated", False)),
            ("s", "abc", ("name", False)),
            ("S", "cba", ("name", True)),
            ("s", "bac", ("tags", False)),
        ):
            await pilot.press(key)
            assert (listed(stage), rows.sort_mark) == (order, mark)
        for order in ("abc", "cba"):
            await pilot.click(rows, offset=(4, 0))
            assert listed(stage) == order


async def test_the_note_under_the_cursor_is_read_beside_it_and_enter_leads_there(engine):
    stage = Stage(MemoriesPane(id="memories-pane"), engine=engine)
    async with stage.run_test(size=SIZE) as pilot:
        pane = await staged(stage, pilot, engine)
        await until(pilot, lambda: "About ants." in screen_text(stage))
        await pilot.press("down", "down")
        await until(pilot, lambda: "About bees." in screen_text(stage))
        del engine.files["2026/05/week2/a.md"]
        await pilot.press("home")
        await until(pilot, lambda: "✖ no note lies at 2026/05/week2/a.md" in screen_text(stage))
        await pilot.press("enter")
        assert pane.query_one(NotePreview).has_focus


async def test_marked_notes_are_counted_and_meant_and_escape_unmarks_them_first(engine):
    stage = Stage(MemoriesPane(id="memories-pane"), engine=engine)
    async with stage.run_test(size=SIZE) as pilot:
        pane = await staged(stage, pilot, engine)
        await pilot.press("slash", *"week2", "enter", "A")
        await until(pilot, lambda: pane.query_one(FilterBar).note == "2 of 3 · ✓ 2")
        await pilot.press("t", "escape")
        await until(pilot, lambda: pane.query_one(FilterBar).note == "2 of 3")
        assert [each.paths for each in stage.told(TagsAsked)] == [
            ("2026/05/week2/a.md", "2026/05/week2/c.md")
        ]
        await pilot.press("t")
        assert stage.told(TagsAsked)[-1].paths == ("2026/05/week2/a.md",)


async def test_the_tree_and_the_preview_come_and_go(engine):
    stage = Stage(MemoriesPane(id="memories-pane"), engine=engine)
    async with stage.run_test(size=SIZE) as pilot:
        pane = await staged(stage, pilot, engine)
        for key, part in (("b", PlaceTree), ("v", NotePreview)):
            was_there = pane.query_one(part).size.width > 0
            await pilot.press(key)
            await until(
                pilot, lambda part=part, was=was_there: (pane.query_one(part).size.width > 0) is not was
            )
            await pilot.press(key)
            await until(pilot, lambda part=part, was=was_there: (pane.query_one(part).size.width > 0) is was)
