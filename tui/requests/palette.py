"""The command palette: everything the dashboard can do, by name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SystemCommand

from tui.looks.preferences import DARK, LIGHT
from tui.screens.dashboard import TABS

if TYPE_CHECKING:
    from tui.app import VaultmemApp

ABOUT = {
    "overview": "Counts, severities, weeks, tags, the engine",
    "diagnostics": "What is wrong with the notes, and the fixes",
    "recall": "What hints a prompt would get, and why",
    "memories": "Every note, by time and by tag",
    "activity": "What the engine did and when",
}


def commands(app: VaultmemApp) -> Iterator[SystemCommand]:
    """The commands that make sense now."""
    for tab in TABS:
        yield SystemCommand(f"Go to {tab}", ABOUT[tab], partial(app.dashboard.action_tab, tab))
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
