"""What a person takes out of the dashboard: a note into the editor or Obsidian, a text onto the clipboard."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from textual.app import SuspendNotSupported

from tui.ending import lend_terminal
from vaultmem.text.shown import harmless

if TYPE_CHECKING:
    from textual.app import App

_LINE_FLAGS = {
    "code": "--goto {path}:{line}",
    "codium": "--goto {path}:{line}",
    "cursor": "--goto {path}:{line}",
    "subl": "{path}:{line}",
    "hx": "{path}:{line}",
    "helix": "{path}:{line}",
    "zed": "{path}:{line}",
    "micro": "+{line} {path}",
    "kak": "+{line} {path}",
}
_WAITS = {"code": "--wait", "codium": "--wait", "cursor": "--wait", "subl": "--wait", "zed": "--wait"}

MOST_COPIED_CHARS = 80
"""Of a copied text the notice shows no more than this."""


def open_in_editor(app: App[int], path: Path, line: int | None) -> None:
    """Give the terminal to the editor until it ends. Whatever fails becomes a notice."""
    command = editor_command(path, line)
    if not command:
        _complain(app, "There is no editor: set EDITOR, for example to nano.")
        return
    try:
        with app.suspend():
            code = lend_terminal(command)
    except SuspendNotSupported:
        _complain(app, "This terminal cannot be lent to an editor.")
        return
    except OSError as error:
        _complain(app, f"{command[0]}: {error.strerror or error}. Set EDITOR to another one.")
        return
    app.refresh(layout=True)
    if code:
        app.notify(f"{command[0]} ended with code {code}.", title="editor", severity="warning", markup=False)


def _complain(app: App[int], text: str) -> None:
    app.notify(text, title="✖ editor", severity="error", markup=False)


def open_in_obsidian(app: App[int], path: Path) -> None:
    """Hand the link to the desktop; where there is none, copy it."""
    link = obsidian_link(path)
    if open_link(link):
        app.notify("Opened in Obsidian.", markup=False)
    else:
        app.copy_to_clipboard(link)
        app.notify(
            "No desktop here: the obsidian:// link was copied instead.", severity="warning", markup=False
        )


def copy(app: App[int], text: str, what: str) -> None:
    """Put a text on the clipboard of the terminal."""
    if text:
        app.copy_to_clipboard(text)
        shown = harmless(text)
        cut = shown[:MOST_COPIED_CHARS] + ("…" if len(shown) > MOST_COPIED_CHARS else "")
        app.notify(f"Copied the {what}: {cut}", markup=False)


def editor_command(path: Path, line: int | None, environ: Mapping[str, str] = os.environ) -> Sequence[str]:
    """The command that opens a file in the person's editor (`VISUAL`, `EDITOR`, else what is installed).

    Empty when there is no editor at all.
    """
    wanted = environ.get("VISUAL") or environ.get("EDITOR") or _installed_editor()
    if not wanted:
        return ()
    words = shlex.split(wanted)
    name = Path(words[0]).name
    if name in _WAITS and _WAITS[name] not in words:
        words.append(_WAITS[name])
    if line is None:
        return (*words, str(path))
    form = _LINE_FLAGS.get(name, "+{line} {path}")
    return (*words, *(word.format(line=line, path=path) for word in form.split()))


def _installed_editor() -> str:
    return next((found for name in ("nano", "vim", "vi") if (found := shutil.which(name))), "")


def obsidian_link(path: Path) -> str:
    """The link that opens a note in Obsidian, by its absolute path."""
    return "obsidian://open?path=" + quote(str(path), safe="")


def open_link(link: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Hand a link to the desktop; False where there is none (SSH, a bare terminal)."""
    if sys.platform == "darwin":
        opener: str | None = "open"
    else:
        has_desktop = environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
        opener = shutil.which("xdg-open") if has_desktop else None
    if opener is None:
        return False
    quiet = subprocess.DEVNULL
    try:
        subprocess.Popen([opener, link], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    except OSError:
        return False
    return True
