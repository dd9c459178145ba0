"""`vaultmem init`: from an Obsidian vault to a memory root and settings, once, and what all else says before it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.shell import Shell


def obsidian_knows(shell: Shell, *vaults: Path) -> None:
    registry = shell.home / ".config" / "obsidian" / "obsidian.json"
    registry.parent.mkdir(parents=True)
    entries = {f"v{n}": {"path": str(vault), "ts": n} for n, vault in enumerate(vaults)}
    registry.write_text(json.dumps({"vaults": entries}))


@pytest.fixture
def bare(shell, monkeypatch):
    """A machine on which nothing is configured."""
    for name in ("MARCH_MEMORY_ROOT", "VAULTMEM_STATE_DIR"):
        monkeypatch.delenv(name)
    shutil.rmtree(shell.root)
    return shell


def test_init_finds_the_vault_and_is_done_once(bare):
    obsidian_knows(bare, bare.root.parent)
    document = bare.json("init")
    assert document["root"] == str(bare.root) and document["created"] == ["root", "config"]
    config = Path(document["config"])
    assert config.is_relative_to(bare.home) and bare.root.is_dir()
    assert bare.json("init")["created"] == []
    assert bare.json("status")["root"] == str(bare.root)


def test_init_makes_the_settings_file_that_the_environment_names(bare, tmp_path, monkeypatch):
    file = tmp_path / "some" / "where.toml"
    monkeypatch.setenv("VAULTMEM_CONFIG", str(file))
    obsidian_knows(bare, bare.root.parent)
    answer = bare("status")
    assert answer.code == 2 and "VAULTMEM_CONFIG" in answer.complaint
    assert bare.json("init")["config"] == str(file) and file.is_file()
    assert bare.json("status")["root"] == str(bare.root)


def test_init_asks_which_vault_when_there_are_several(bare, tmp_path):
    other = tmp_path / "Other Vault"
    other.mkdir()
    obsidian_knows(bare, bare.root.parent, other)
    answer = bare("init")
    assert answer.code == 2 and str(other) in answer.complaint
    assert bare.json("init", "--vault", str(other))["root"] == str(other / "March Memories")


def test_init_keeps_what_stands_in_the_settings(bare):
    config = bare.home / ".config" / "vaultmem" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("# mine\n[recall]\nlimit = 7\n")
    bare("init", "--vault", str(bare.root.parent))
    text = config.read_text()
    assert "# mine\n[recall]\nlimit = 7\n" in text and "memory_root" in text


def test_init_writes_through_a_link_and_keeps_the_mode_of_the_settings(bare, tmp_path):
    kept = tmp_path / "dotfiles.toml"
    kept.write_text("# mine\n")
    kept.chmod(0o600)
    file = bare.home / ".config" / "vaultmem" / "config.toml"
    file.parent.mkdir(parents=True)
    file.symlink_to(kept)
    bare("init", "--vault", str(bare.root.parent))
    assert file.is_symlink() and "memory_root" in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600


def test_init_without_obsidian_makes_a_root_of_its_own(bare):
    document = bare.json("init")
    assert Path(document["root"]).is_relative_to(bare.home)
    assert Path(document["root"]).name == "March Memories"


def test_init_says_that_no_vault_was_found_and_which_root_it_replaces(bare, tmp_path):
    assert "no Obsidian vault was found" in bare("init").err
    assert bare("init", "--vault", str(bare.root.parent)).err == "made: root, config\n"
    other = tmp_path / "Other Vault"
    other.mkdir()
    assert str(bare.root) in bare("init", "--vault", str(other)).err


def test_before_init_every_command_says_that_there_is_no_vault_yet(bare):
    answer = bare("sync")
    assert answer.code == 3 and "vaultmem init" in answer.err
    bare("init", "--vault", str(bare.root.parent))
    bare.root.rmdir()
    assert "Mount or restore it" in bare("sync").err
