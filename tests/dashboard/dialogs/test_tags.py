"""The tag editor: chips, completion, and notes that change while it is open."""

from __future__ import annotations

import pytest
from textual.widgets import Static

from tests.dashboard.steps import CACHE, open_dialog, ready, with_line
from tui.dialogs.tags import TagDialog
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file, refused
from tui.widgets.chips import Chips
from vaultmem.notes.parse import parse_note

SIZE = (110, 40)


async def chips_of_two(app, pilot) -> None:
    await ready(app, pilot)
    await pilot.press("4", "A", "t")
    await until(pilot, lambda: isinstance(app.screen, TagDialog) and app.screen._plan.is_current)
    await pilot.press("shift+tab")
    assert [(chip.tag, chip.on) for chip in app.screen.query_one(Chips).chips] == [("docker", 1)]


def two_notes() -> FakeEngine:
    return FakeEngine(
        {
            "a.md": note_file("A", id="a", tags=["docker"]),
            "b.md": note_file("B", id="b"),
        }
    )


@pytest.mark.parametrize("key", ["delete", "backspace"])
async def test_deleting_a_chip_that_is_on_some_notes_takes_it_off(open_dashboard, key):
    engine = two_notes()
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await chips_of_two(app, pilot)
        await pilot.press(key, key, "ctrl+s")
        await until(pilot, lambda: app.screen is app.dashboard)
        assert not engine.tags()


async def test_space_leads_a_chip_round_from_some_notes_to_all_to_none(open_dashboard):
    app = open_dashboard(two_notes())
    async with app.run_test(size=SIZE) as pilot:
        await chips_of_two(app, pilot)
        chips = app.screen.query_one(Chips)
        await pilot.press("space")
        assert chips.chips[0].is_added
        await pilot.press("space")
        assert chips.chips[0].is_removed
        await pilot.press("space")
        assert not chips.chips[0].is_added and not chips.chips[0].is_removed


async def test_a_new_tag_that_is_deleted_leaves_the_cursor_on_a_chip(open_dashboard):
    app = open_dashboard(two_notes())
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "A", "t")
        await until(pilot, lambda: isinstance(app.screen, TagDialog))
        await pilot.press(*"new", "enter", "shift+tab", "right", "delete", "delete")
        await until(pilot, lambda: app.screen.query_one(Chips).chips[0].is_removed)
        assert len(app.screen.query_one(Chips).chips) == 1


async def test_tags_that_were_wanted_outlive_a_change_of_the_notes(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await open_dialog(app, pilot, "t", TagDialog)
        await pilot.press(*"mine", "enter")
        await until(pilot, lambda: "1 note will change" in screen_text(app))
        engine.put(CACHE, with_line(engine.files[CACHE].replace(b"- cache\n", b"- theirs\n")))
        await until(pilot, lambda: "changed outside meanwhile" in screen_text(app))
        assert [chip.tag for chip in app.screen.query_one(Chips).chips] == ["theirs", "project/march", "mine"]
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.dashboard)
        assert parse_note(CACHE, engine.files[CACHE]).tags == ("theirs", "project/march", "mine")


async def test_chips_and_completion_lead_to_the_same_edit(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "slash", *"#cache stable", "enter", "t")
        await until(pilot, lambda: isinstance(app.screen, TagDialog))
        await pilot.press(*"obs", "down", "enter", "shift+tab", "space", "ctrl+s")
        await until(
            pilot, lambda: parse_note(CACHE, engine.files[CACHE]).tags == ("project/march", "obsidian")
        )


async def test_an_edit_that_is_refused_stays_in_the_dialog_with_its_reason(engine, open_dashboard):
    engine.failing["edit_tags"] = refused(CACHE)
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "slash", *"stable", "enter", "t")
        await until(pilot, lambda: isinstance(app.screen, TagDialog) and "bad_yaml" in screen_text(app))
        await pilot.press("enter")
        assert isinstance(app.screen, TagDialog)
        assert "1 refused" in str(app.screen.query_one("#plan-summary", Static).content)
