"""What killed writes left behind in the folders of notes: our own unfinished bytes go, somebody's are kept."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

from vaultmem.files import atomic, beneath, lost, replacement
from vaultmem.notes.names import is_skipped_folder


def sweep(root: Path, older_than_s: float) -> int:
    """Tidy every folder below the root; how many files are gone from where they lay. What cannot be opened is left."""
    count, pending = 0, [""]
    with contextlib.suppress(OSError), contextlib.closing(beneath.Way(root)) as way:
        while pending:
            path = pending.pop()
            with contextlib.suppress(OSError):
                folder = way.to(path)
                names, folders = _listed(folder)
                pending += [f"{path}/{name}" if path else name for name in folders]
                count += sum(_tidy(root, folder, name, names, older_than_s) for name in names)
    return count


def _listed(folder: int) -> tuple[list[str], list[str]]:
    """The names of files and of folders in an open folder. Raises OSError."""
    names, folders = list[str](), list[str]()
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                names.append(entry.name)
            elif not is_skipped_folder(entry.name):
                folders.append(entry.name)
    return names, folders


def _tidy(root: Path, folder: int, name: str, names: Iterable[str], older_than_s: float) -> bool:
    """Look at one file; whether it is gone from here."""
    if not (atomic.is_temporary(name) or replacement.is_aside(name)):
        return False
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        # A rename does not change when a file was written, but when it was last touched.
        if time.time() - max(status.st_mtime, status.st_ctime) < older_than_s:
            return False
        if atomic.is_temporary(name) or replacement.is_superfluous(folder, name):
            os.unlink(name, dir_fd=folder)
        else:
            note = next((other for other in names if replacement.is_aside_of(name, other)), name)
            lost.keep(root, folder, name, note)
    except OSError:
        return False
    return True
