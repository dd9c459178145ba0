"""A tag is renamed over the whole vault, after a preview."""

from __future__ import annotations

from tests.dashboard.stage import Stage
from tests.dashboard.steps import CACHE, ready, with_line
from tui.dialogs.rename_tag import RenameTagDialog
from tui.testing.driving import screen_text, until
from tui.testing.notes import refused

SIZE = (110, 40)


async def renaming_project(app, pilot) -> None:
    """Ask for another name of a tag of the small vault, and wait until two notes would follow."""
    await ready(app, pilot)
    await pilot.press("R")
    await until(pilot, lambda: isinstance(app.screen, RenameTagDialog))
    await pilot.press(*"project", "enter", *"proj")
    await until(pilot, lambda: "2 notes will change" in screen_text(app))


async def test_a_rename_outlives_a_change_of_a_note(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await renaming_project(app, pilot)
        engine.put(CACHE, with_line(engine.files[CACHE]))
        await until(pilot, lambda: "▲ 1 changed outside" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: engine.tags().get("proj/march") == 2)
        assert b"from Obsidian" in engine.files[CACHE]


async def test_a_tag_is_renamed_over_the_vault_with_a_preview(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await renaming_project(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "proj/march" in engine.tags())


async def renaming(pilot, stage: Stage, *keys: str) -> None:
    stage.push_screen(RenameTagDialog("Renamed a tag", {"git": 1, "cache": 2}))
    await until(pilot, lambda: isinstance(stage.screen, RenameTagDialog) and stage.focused)
    await pilot.press(*keys)


async def test_a_name_that_is_there_already_is_said_to_be_a_merge(engine):
    stage = Stage(engine=engine)
    async with stage.run_test() as pilot:
        await renaming(pilot, stage, *"git", "enter", *"Cache")
        await until(pilot, lambda: "▲ merges #git into #cache, used 2 times" in screen_text(stage))


async def test_one_name_alone_or_the_same_twice_renames_nothing(engine):
    before = dict(engine.files)
    stage = Stage(engine=engine)
    async with stage.run_test() as pilot:
        await renaming(pilot, stage, *"git", "enter", "enter", *"git", "enter", "ctrl+s")
        assert isinstance(stage.screen, RenameTagDialog)
    assert engine.files == before and "apply" not in engine.calls


async def test_a_plan_that_fails_is_said_in_the_dialog(engine):
    engine.failing["rename_tag"] = refused("a.md")
    stage = Stage(engine=engine)
    async with stage.run_test(size=(110, 40)) as pilot:
        await renaming(pilot, stage, *"git", "enter", *"vcs")
        await until(pilot, lambda: "✖ a.md cannot be edited: bad_yaml" in screen_text(stage))
