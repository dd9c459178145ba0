"""The terminal belongs to the editor for a while."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from tui.outside import editor_command

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
