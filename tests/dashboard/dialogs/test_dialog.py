"""Escape is the answer of a person who changed their mind."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widgets import Input

from tests.dashboard.stage import Stage
from tui.dialogs.dialog import Dialog
from tui.testing.driving import until


class Question(Dialog[str]):
    """Asks for a word."""

    def compose(self) -> ComposeResult:
        yield Input()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


async def test_escape_answers_nothing_whatever_was_typed():
    stage = Stage()
    answers: list[str | None] = []
    async with stage.run_test() as pilot:
        for keys in ((*"word", "enter"), (*"word", "escape")):
            stage.push_screen(Question(), answers.append)
            await until(pilot, lambda: isinstance(stage.screen, Question))
            await pilot.press(*keys)
            await until(pilot, lambda: not isinstance(stage.screen, Question))
    assert answers == ["word", None]


async def test_a_dialog_knows_whether_the_window_is_low():
    stage = Stage()
    async with stage.run_test(size=(80, 24)) as pilot:
        stage.push_screen(Question())
        await until(pilot, lambda: stage.screen.has_class("-low"))
        await pilot.resize_terminal(80, 30)
        await until(pilot, lambda: stage.screen.has_class("-tall") and not stage.screen.has_class("-low"))
