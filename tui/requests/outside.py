"""What leaves the terminal: an editor in its place, a link to Obsidian."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

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
    for name in ("nano", "vim", "vi", "notepad"):
        if found := shutil.which(name):
            return found
    return ""


def obsidian_link(path: Path) -> str:
    """The link that opens a note in Obsidian, by its absolute path."""
    return "obsidian://open?path=" + quote(str(path), safe="")


def open_link(link: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Hand a link to the desktop; False where there is none (SSH, a bare terminal)."""
    if sys.platform == "darwin":
        command = ["open", link]
    elif sys.platform == "win32":
        os.startfile(link)
        return True
    else:
        has_desktop = environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
        opener = shutil.which("xdg-open") if has_desktop else None
        if opener is None:
            return False
        command = [opener, link]
    quiet = subprocess.DEVNULL
    try:
        subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    except OSError:
        return False
    return True
