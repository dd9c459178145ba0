"""What the dashboard remembers between two starts: the theme. One small file of its own, never needed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vaultmem.regular_file import read_whole

DARK = "vaultmem-dark"
LIGHT = "vaultmem-light"


@dataclass(frozen=True, slots=True)
class Preferences:
    """Where the file is; a file that cannot be read or written is as good as none."""

    file: Path

    def theme(self) -> str | None:
        """The remembered theme's name."""
        try:
            stored = json.loads(read_whole(self.file, through_link=False).decode())
        except (OSError, ValueError, RecursionError):
            return None
        name = stored.get("theme") if isinstance(stored, dict) else None
        return name if isinstance(name, str) else None

    def remember_theme(self, name: str) -> None:
        """Keep the theme's name for the next start."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(self.file, flags, 0o600), "w", encoding="utf-8") as file:
                file.write(json.dumps({"theme": name}) + "\n")
        except OSError:
            return


def default_preferences() -> Preferences:
    """The file in the platform's state folder."""
    from platformdirs import user_state_path

    return Preferences(user_state_path("vaultmem", appauthor=False) / "tui.json")


def theme_for_terminal(environ: Mapping[str, str] = os.environ) -> str:
    """Light where the terminal says that its background is light (`COLORFGBG`), else dark."""
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if background in ("7", "15") else DARK
