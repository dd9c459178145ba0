"""A question before something that a person may not mean: no is the easy answer."""

from __future__ import annotations

import pytest

from tests.dashboard.stage import Stage
from tui.dialogs.confirm import ConfirmDialog
from tui.testing.driving import screen_text, until


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("y",), True),
        (("n",), False),
        (("enter",), False),
        (("escape",), None),
        (("shift+tab", "enter"), True),
    ],
)
async def test_only_a_clear_yes_is_yes(keys, answer):
    stage = Stage()
    answers: list[bool | None] = []
    async with stage.run_test() as pilot:
        stage.push_screen(
            ConfirmDialog("Move 2 notes?", ["[b]a.md", "b.md"], "They come back.", "Move"), answers.append
        )
        await until(pilot, lambda: "Move 2 notes?" in screen_text(stage))
        shown = screen_text(stage)
        assert [
            word for word in ("[b]a.md", "b.md", "They come back.", "Move", "No") if word not in shown
        ] == []
        await pilot.press(*keys)
        await until(pilot, lambda: answers)
    assert answers == [answer]
