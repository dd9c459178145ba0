"""The palette knows everything by name."""

from __future__ import annotations

from tests.dashboard.steps import ready
from tui.dialogs.rename_tag import RenameTagDialog
from tui.looks.preferences import LIGHT
from tui.requests.palette import commands
from tui.screens.dashboard import TABS
from tui.testing.driving import until

SIZE = (110, 34)


async def test_the_palette_knows_the_commands(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("ctrl+p", *"rename", "enter")
        await until(pilot, lambda: isinstance(app.screen, RenameTagDialog))


class Commanded:
    """As much of an app as the palette commands."""

    theme = ""

    def __init__(self, *, is_read_only: bool) -> None:
        self.is_read_only = is_read_only
        self.done: list[str] = []

    def go_to(self, tab: str) -> None:
        self.done.append(f"go to {tab}")

    def __getattr__(self, name: str):
        return lambda: self.done.append(name)


def run_all(app: Commanded) -> list[str]:
    found = list(commands(app))  # type: ignore[arg-type]
    for command in found:
        command.callback()
    return [command.title for command in found]


def test_every_command_does_what_it_is_called():
    app = Commanded(is_read_only=False)
    titles = run_all(app)
    assert len(set(titles)) == len(titles)
    assert app.done[:5] == [f"go to {tab}" for tab in TABS]
    assert app.done[5:] == [
        f"action_{what}"
        for what in ("sync", "doctor", "rename_tag", "undo", "redo", "change_theme", "help", "quit")
    ]
    assert app.theme == LIGHT


def test_read_only_no_command_is_offered_that_writes():
    app = Commanded(is_read_only=True)
    titles = run_all(app)
    assert not {"Undo", "Redo", "Rename or merge a tag"} & set(titles)
    assert not {"action_undo", "action_redo", "action_rename_tag"} & set(app.done)
