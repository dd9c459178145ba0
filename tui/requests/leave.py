"""What a person takes out of the dashboard: a note into the editor or Obsidian, a text onto the clipboard."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from tui.looks.formatting import plain
from tui.requests.outside import editor_command, obsidian_link, open_link

if TYPE_CHECKING:
    from tui.app import VaultmemApp


def open_in_editor(app: VaultmemApp, path: Path, line: int | None) -> None:
    """Run the editor on a note; afterwards look at the note anew. Whatever fails becomes a notice."""
    command = editor_command(path, line)
    if not command:
        app.say("There is no editor: set EDITOR, for example to nano.", title="✖ editor", severity="error")
        return
    try:
        with app.suspend():
            code = subprocess.run(command, check=False).returncode
    except SuspendNotSupported:
        app.say("This terminal cannot be lent to an editor.", title="✖ editor", severity="error")
        return
    except OSError as error:
        app.say(
            f"{command[0]}: {error.strerror or error}. Set EDITOR to another one.",
            title="✖ editor",
            severity="error",
        )
        return
    app.refresh(layout=True)
    if code:
        app.say(f"{command[0]} ended with code {code}.", title="editor", severity="warning")
    app.dashboard.read_all()


def open_in_obsidian(app: VaultmemApp, path: Path) -> None:
    """Hand the link to the desktop; where there is none, copy it."""
    link = obsidian_link(path)
    if open_link(link):
        app.say("Opened in Obsidian.")
    else:
        app.copy_to_clipboard(link)
        app.say("No desktop here: the obsidian:// link was copied instead.", severity="warning")


def copy(app: VaultmemApp, text: str, what: str) -> None:
    """Put a text on the clipboard of the terminal."""
    if text:
        app.copy_to_clipboard(text)
        shown = plain(text)
        app.say(f"Copied the {what}: {shown[:80]}{'…' if len(shown) > 80 else ''}")
