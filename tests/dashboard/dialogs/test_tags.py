"""The tag editor: chips, completion, and notes that change while it is open."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual.widgets import Static

from tests.dashboard.stage import Stage
from tests.dashboard.steps import CACHE, open_dialog, ready, with_line
from tui.dialogs.tags import TagDialog
from tui.messages import Changed
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file, refused
from tui.widgets.chips import Chips
from vaultmem.notes.parse import parse_note
from vaultmem.views import NoteView

SIZE = (110, 40)


def two_notes() -> FakeEngine:
    return FakeEngine(
        {
            "a.md": note_file("A", id="a", tags=["docker"]),
            "b.md": note_file("B", id="b"),
        }
    )


async def editing(stage: Stage, pilot, notes: Sequence[NoteView]) -> TagDialog:
    """The dialog on these notes, with its first plan."""
    dialog = TagDialog("Edited tags", notes, {"docker": 1})
    stage.push_screen(dialog)
    await until(pilot, lambda: stage.screen is dialog and dialog._plan.is_current)
    return dialog


async def chips_of_two(stage: Stage, pilot) -> Chips:
    """The cursor on the tag that one of two notes has."""
    dialog = await editing(stage, pilot, stage.engine.notes())
    await pilot.press("shift+tab")
    chips = dialog.query_one(Chips)
    assert [(chip.tag, chip.on) for chip in chips.chips] == [("docker", 1)]
    return chips


@pytest.mark.parametrize("key", ["delete", "backspace"])
async def test_deleting_a_chip_that_is_on_some_notes_takes_it_off(key):
    engine = two_notes()
    stage = Stage(engine=engine)
    async with stage.run_test(size=SIZE) as pilot:
        await chips_of_two(stage, pilot)
        await pilot.press(key, key, "ctrl+s")
        await until(pilot, lambda: not isinstance(stage.screen, TagDialog))
        assert not engine.tags()


async def test_space_leads_a_chip_round_from_some_notes_to_all_to_none():
    stage = Stage(engine=two_notes())
    async with stage.run_test(size=SIZE) as pilot:
        chips = await chips_of_two(stage, pilot)
        await pilot.press("space")
        assert chips.chips[0].is_added
        await pilot.press("space")
        assert chips.chips[0].is_removed
        await pilot.press("space")
        assert not chips.chips[0].is_added and not chips.chips[0].is_removed


async def test_a_new_tag_that_is_deleted_leaves_the_cursor_on_a_chip():
    stage = Stage(engine=two_notes())
    async with stage.run_test(size=SIZE) as pilot:
        dialog = await editing(stage, pilot, stage.engine.notes())
        await pilot.press(*"new", "enter", "shift+tab", "right", "delete", "delete")
        await until(pilot, lambda: dialog.query_one(Chips).chips[0].is_removed)
        assert len(dialog.query_one(Chips).chips) == 1


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


async def test_an_edit_that_is_refused_stays_in_the_dialog_with_its_reason():
    engine = two_notes()
    engine.failing["edit_tags"] = refused("a.md")
    stage = Stage(engine=engine)
    async with stage.run_test(size=SIZE) as pilot:
        dialog = await editing(stage, pilot, engine.notes()[:1])
        await until(pilot, lambda: "bad_yaml" in screen_text(stage))
        await pilot.press("enter")
        assert stage.screen is dialog
        assert "1 refused" in str(dialog.query_one("#plan-summary", Static).content)


async def test_what_is_typed_is_told_as_the_tag_that_it_becomes():
    engine = two_notes()
    stage = Stage(engine=engine)
    async with stage.run_test() as pilot:
        await editing(stage, pilot, engine.notes())
        assert "enter adds, then saves" in screen_text(stage)
        for typed, told in (
            ("Docker", "→ #docker  used 1 times"),
            (" Compose", "→ #docker-compose  a new tag"),
        ):
            await pilot.press(*typed)
            await until(pilot, lambda told=told: told in screen_text(stage))
        await pilot.press("ctrl+u", *"!?", "enter")
        await until(pilot, lambda: "✖ nothing is left of it" in screen_text(stage))
    assert "apply" not in engine.calls


async def test_backspace_in_an_empty_box_takes_the_last_tag_off_and_ctrl_s_writes_it():
    engine = two_notes()
    stage = Stage(engine=engine)
    async with stage.run_test() as pilot:
        await editing(stage, pilot, engine.notes()[:1])
        await pilot.press("x", "backspace", "backspace", "ctrl+s")
        await until(pilot, lambda: not isinstance(stage.screen, TagDialog))
    assert not engine.tags()
    (changed,) = stage.told(Changed)
    assert (changed.deed.what, len(changed.deed)) == ("Edited tags", 1)
