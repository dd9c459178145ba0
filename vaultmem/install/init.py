"""`vaultmem init`: from an Obsidian vault to a memory root and a settings file, once and again without harm."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaultmem.config import MOST_BYTES, ROOT_NAME, Config, config_path, default_root
from vaultmem.errors import RefusedError, UsageError
from vaultmem.regular_file import read_whole


@dataclass(frozen=True, slots=True)
class SetUp:
    """Where things lie, and which of them were made just now (`root`, `config`)."""

    root: Path
    config: Path
    created: tuple[str, ...]
    replaced: Path | None = None
    """The memory root that the settings named before, if it was another one."""

    @property
    def is_in_vault(self) -> bool:
        """Somebody chose the memory root, or Obsidian knows its vault."""
        return self.root != default_root()


def set_up(*, vault: str | None, root: str | None) -> SetUp:
    """Choose the memory root, make it, and write it into the settings.

    Raises UsageError when it is not clear which vault is meant, ConfigError, RefusedError when nothing can be written.
    """
    file = config_path()
    configured = Config.load() if file.exists() else None
    wanted = _wanted_root(vault, root, configured)
    created = []
    try:
        if not wanted.is_dir():
            wanted.mkdir(parents=True)
            created.append("root")
        if _write_root(file, wanted):
            created.append("config")
    except OSError as error:
        where = error.filename or wanted
        raise RefusedError(f"cannot write {where}: {error.strerror or error}") from None
    before = configured.root if configured is not None and configured.root != default_root() else None
    return SetUp(wanted, file, tuple(created), before if before != wanted else None)


def _wanted_root(vault: str | None, root: str | None, configured: Config | None) -> Path:
    if root is not None:
        return Path(root).expanduser().absolute()
    if vault is not None:
        folder = Path(vault).expanduser().absolute()
        if not folder.is_dir():
            raise UsageError(f"there is no folder {folder}", advice="Give the folder of an Obsidian vault.")
        return folder / ROOT_NAME
    if configured is not None and configured.root != default_root():
        return configured.root
    vaults = known_vaults()
    if len(vaults) > 1:
        listed = "  ".join(f"--vault {json.dumps(str(folder), ensure_ascii=False)}" for folder in vaults)
        raise UsageError(f"Obsidian knows {len(vaults)} vaults", advice=f"Say which: {listed}")
    return vaults[0] / ROOT_NAME if vaults else default_root()


def _write_root(file: Path, root: Path) -> bool:
    """Put `memory_root` into the settings, leaving the rest as it is; whether anything was written.

    Raises OSError, and RefusedError when the file would not say so afterwards or has changed meanwhile.
    """
    from vaultmem.files import atomic
    from vaultmem.files.replacement import replace_file

    target = file.resolve()  # a link into somebody's dotfiles stays a link
    before = read_whole(target, MOST_BYTES) if target.exists() else None
    after = with_root((before or b"").decode("utf-8"), root).encode()
    if after == before:
        return False
    if before is None:
        target.parent.mkdir(parents=True, exist_ok=True)
        is_written = atomic.create_file(target, after)
    else:
        is_written = replace_file(target, before, after)
    if not is_written:
        raise RefusedError(f"{file} changed meanwhile; nothing was written", advice="Try again.")
    return True


def with_root(text: str, root: Path) -> str:
    """The text of the settings with this memory root. Raises RefusedError when it cannot be put there."""
    newline = "\r\n" if "\r\n" in text else "\n"
    entry = f"memory_root = {json.dumps(str(root), ensure_ascii=False)}{newline}"
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    lines = text.removeprefix(mark).splitlines(keepends=True)
    top = next((i for i, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
    at = next((i for i, line in enumerate(lines[:top]) if _key_of(line) == "memory_root"), None)
    if at is None:
        lines.insert(0, entry)
    elif lines[at].rstrip("\r\n") != entry.rstrip("\r\n"):
        lines[at] = entry
    after = mark + "".join(lines)
    try:
        is_proven = _settings_of(after) == _settings_of(text) | {"memory_root": str(root)}
    except ValueError:
        is_proven = False
    if not is_proven:
        raise RefusedError(
            "`memory_root` cannot be put into the settings", advice=f"Write there: {entry.strip()}"
        )
    return after


def _settings_of(text: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))


def _key_of(line: str) -> str:
    return line.split("=")[0].strip().strip("\"'")


# --- Obsidian's own list of vaults on this machine


def known_vaults(environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """The vaults that Obsidian remembers and that exist, the one opened last first."""
    vaults: dict[Path, tuple[bool, float]] = {}
    for file in _registries(environ):
        try:
            entries = json.loads(read_whole(file).decode("utf-8")).get("vaults", {}).values()
        except (OSError, ValueError, AttributeError, RecursionError):
            continue
        for entry in entries:
            folder = Path(str(entry.get("path", ""))) if isinstance(entry, dict) else Path()
            if folder.is_absolute() and folder.is_dir():
                opened_at = entry.get("ts")
                is_number = isinstance(opened_at, int | float)
                vaults[folder] = bool(entry.get("open")), opened_at if is_number else 0
    return tuple(sorted(vaults, key=lambda folder: vaults[folder], reverse=True))


def _registries(environ: Mapping[str, str]) -> tuple[Path, ...]:
    home = Path(environ.get("HOME") or Path.home())
    if sys.platform == "darwin":
        return (home / "Library/Application Support/obsidian/obsidian.json",)
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    return (
        config / "obsidian/obsidian.json",
        home / ".var/app/md.obsidian.Obsidian/config/obsidian/obsidian.json",
        home / "snap/obsidian/current/.config/obsidian/obsidian.json",
    )
