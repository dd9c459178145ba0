"""A memory root inside an Obsidian vault."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "Vault" / ".obsidian").mkdir(parents=True)
    (tmp_path / "Vault" / "Memories").mkdir()
    return tmp_path / "Vault" / "Memories"
