"""`vaultmem init`: from an Obsidian vault to a memory root and a settings file, once and again without harm."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from vaultmem.config import ROOT_NAME, Config, config_path, default_root
from vaultmem.errors import RefusedError, UsageError
from vaultmem.files import atomic
from vaultmem.install.obsidian import known_vaults


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
        raise RefusedError(f"cannot write {error.filename}: {error.strerror}") from None
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
    """Put `memory_root` into the settings, leaving the rest as it is; whether anything was written."""
    line = f"memory_root = {json.dumps(str(root), ensure_ascii=False)}\n"
    old = file.read_text("utf-8") if file.exists() else ""
    lines = old.splitlines(keepends=True)
    top = next((i for i, text in enumerate(lines) if text.lstrip().startswith("[")), len(lines))
    at = next((i for i, text in enumerate(lines[:top]) if text.split("=")[0].strip() == "memory_root"), None)
    if at is None:
        lines.insert(0, line)
    elif lines[at] != line:
        lines[at] = line
    if "".join(lines) == old:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(file.resolve(), "".join(lines).encode())  # it may be a link into somebody's dotfiles
    return True
