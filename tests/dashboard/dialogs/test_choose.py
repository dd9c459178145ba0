"""One of several is found by typing."""

from __future__ import annotations

from tests.dashboard.stage import Stage
from tui.dialogs.choose import Choice, ChooseDialog
from tui.testing.driving import screen_text, until
from tui.widgets.rows import Rows

CHOICES = (Choice("", "every folder", 1200), Choice("2026", "2026/", 3), Choice("2026/05", "2026/05/", 2))


async def test_letters_narrow_the_list_and_enter_takes_the_row_under_the_cursor():
    stage = Stage()
    answers: list[str | None] = []
    async with stage.run_test() as pilot:
        for keys, answer in (
            (("enter",), ""),
            (("down", "enter"), "2026"),
            ((*"05", "enter", "enter"), "2026/05"),
            ((*"ZZ", "escape", "escape", "down", "down", "enter"), "2026/05"),
            (("escape",), None),
        ):
            stage.push_screen(ChooseDialog("Which folder?", CHOICES), answers.append)
            await until(
                pilot, lambda: stage.screen.query_one(Rows).has_focus and "1,200" in screen_text(stage)
            )
            await pilot.press(*keys)
            assert answers.pop() == answer


async def test_where_nothing_matches_that_is_said():
    stage = Stage()
    async with stage.run_test() as pilot:
        stage.push_screen(ChooseDialog("Which folder?", CHOICES))
        await until(pilot, lambda: stage.screen.query_one(Rows).has_focus)
        await pilot.press("z")
        await until(pilot, lambda: "nothing matches" in screen_text(stage))
