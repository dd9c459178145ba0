"""A config whose folders hold a blank, and a home with the folders of both clients."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultmem.config import Config


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(tmp_path / "My Vault" / "March Memories", tmp_path / "state")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    (tmp_path / "home" / ".codex").mkdir()
    return tmp_path / "home"
