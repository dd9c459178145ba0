"""Obsidian's own list of vaults on this machine."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path


def known_vaults(environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """The vaults that Obsidian remembers and that exist, the one opened last first."""
    vaults: dict[Path, tuple[bool, int]] = {}
    for file in _registries(environ):
        try:
            entries = json.loads(file.read_text("utf-8")).get("vaults", {}).values()
        except (OSError, ValueError, AttributeError):
            continue
        for entry in entries:
            folder = Path(str(entry.get("path", ""))) if isinstance(entry, dict) else Path()
            if folder.is_absolute() and folder.is_dir():
                vaults[folder] = bool(entry.get("open")), int(entry.get("ts") or 0)
    return tuple(sorted(vaults, key=lambda folder: vaults[folder], reverse=True))


def _registries(environ: Mapping[str, str]) -> tuple[Path, ...]:
    home = Path(environ.get("HOME") or Path.home())
    if sys.platform == "darwin":
        return (home / "Library/Application Support/obsidian/obsidian.json",)
    if sys.platform == "win32":
        return (Path(environ.get("APPDATA", home)) / "obsidian/obsidian.json",)
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    return (
        config / "obsidian/obsidian.json",
        home / ".var/app/md.obsidian.Obsidian/config/obsidian/obsidian.json",
        home / "snap/obsidian/current/.config/obsidian/obsidian.json",
    )
