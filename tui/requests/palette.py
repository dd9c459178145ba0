"""The command palette: everything the dashboard can do, by name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Protocol

from textual.app import SystemCommand

from tui.host import Host
from tui.looks.preferences import DARK, LIGHT
from tui.screens.dashboard import TABS

ABOUT = {
    "overview": "Counts, severities, weeks, tags, the engine",
    "diagnostics": "What is wrong with the notes, and the fixes",
    "recall": "What hints a prompt would get, and why",
    "memories": "Every note, by time and by tag",
    "activity": "What the engine did and when",
}


class Commanded(Host, Protocol):
    """The app, as far as the palette commands it."""

    def go_to(self, tab: str) -> None:
        """Show a tab."""

    def action_sync(self) -> None:
        """Look at the folder now."""

    def action_doctor(self) -> None:
        """Check the caches."""

    def action_rename_tag(self) -> None:
        """Rename or merge a tag."""

    def action_undo(self) -> None:
        """Take the last deed back."""

    def action_redo(self) -> None:
        """Do it again."""

    def action_change_theme(self) -> None:
        """Choose a theme."""

    def action_help(self) -> None:
        """Show all keys."""

    async def action_quit(self) -> None:
        """Leave."""


def commands(app: Commanded) -> Iterator[SystemCommand]:
    """The commands that make sense now."""
    for tab in TABS:
        yield SystemCommand(f"Go to {tab}", ABOUT[tab], partial(app.go_to, tab))
    yield SystemCommand("Look at the folder now", "Find what changed on disk (r)", app.action_sync)
    yield SystemCommand("Check the caches", "As `vaultmem doctor` does", app.action_doctor)
    if not app.is_read_only:
        yield SystemCommand(
            "Rename or merge a tag", "In all notes, with a preview (R)", app.action_rename_tag
        )
        yield SystemCommand("Undo", "Take the last change back (u)", app.action_undo)
        yield SystemCommand("Redo", "Do again what was undone (U)", app.action_redo)
    yield SystemCommand("Theme: dark", "Our own dark theme", partial(setattr, app, "theme", DARK))
    yield SystemCommand("Theme: light", "Our own light theme", partial(setattr, app, "theme", LIGHT))
    yield SystemCommand("Theme: choose", "All themes (T)", app.action_change_theme)
    yield SystemCommand("Keys", "All keys on one page (?)", app.action_help)
    yield SystemCommand("Quit", "Leave the dashboard (q)", app.action_quit)
