"""A question before something that a person may not mean: no is the easy answer."""

from __future__ import annotations

from tests.dashboard.stage import Stage
from tui.dialogs.confirm import ConfirmDialog
from tui.testing.driving import screen_text, until


async def test_only_a_clear_yes_is_yes():
    stage = Stage()
    answers: list[bool | None] = []
    async with stage.run_test() as pilot:
        for keys in (("y",), ("shift+tab", "enter"), ("n",), ("enter",), ("escape",)):
            dialog = ConfirmDialog("Move 2 notes?", ["[b]a.md", "b.md"], "They come back.", "Move")
            stage.push_screen(dialog, answers.append)
            await until(pilot, lambda: "Move 2 notes?" in screen_text(stage) and stage.focused)
            shown = screen_text(stage)
            words = ("[b]a.md", "b.md", "They come back.", "Move", "No")
            assert [word for word in words if word not in shown] == []
            await pilot.press(*keys)
    assert answers == [True, True, False, False, None]
