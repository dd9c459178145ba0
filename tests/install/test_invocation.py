"""How others start vaultmem: from anywhere, on this memory root, and known again as ours."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmem import __version__
from vaultmem.config import Config, default_state_dir
from vaultmem.install.invocation import command_words, is_own_command, program, split_command


def test_the_program_starts_from_any_folder_and_without_a_path(tmp_path: Path) -> None:
    environ = {key: value for key, value in os.environ.items() if key != "PATH"}
    done = subprocess.run(
        [*program(), "--version"], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"vaultmem {__version__}\n"


def test_the_script_beside_python_is_taken_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert program() == [str(tmp_path / "python"), "-m", "vaultmem"]
    (tmp_path / "vaultmem").touch()
    assert program() == [str(tmp_path / "vaultmem")]


def test_the_root_is_pinned_and_the_state_dir_where_it_is_not_the_default(tmp_path: Path) -> None:
    root = tmp_path / "My Vault"
    usual = command_words(Config(root, default_state_dir(root)), "hook", "codex")
    assert usual == [*program(), "hook", "codex", "--root", str(root)]
    assert command_words(Config(root, tmp_path / "s"), "mcp")[-2:] == ["--state-dir", str(tmp_path / "s")]


@pytest.mark.parametrize(
    ("command", "is_ours"),
    [
        ("vaultmem hook codex", True),
        ("/opt/x/bin/vaultmem hook codex --root '/a b'", True),
        ("/usr/bin/python3 -m vaultmem hook codex", True),
        ("vaultmem hook claude-code", False),
        ("vaultmem hook", False),
        ("vaultmem-x hook codex", False),
        ("echo vaultmem hook codex", False),
        ("python3 -m other hook codex", False),
        ("vaultmem 'hook codex", False),
        ("", False),
    ],
)
def test_a_command_is_ours_by_its_program_and_its_first_words(command: str, is_ours: bool) -> None:
    assert is_own_command(split_command(command), "hook", "codex") is is_ours


@given(st.lists(st.text()), st.text())
def test_what_is_written_is_known_again_whatever_the_folders_are_called(words: list[str], name: str) -> None:
    command = [*program(), "hook", "codex", *words, name]
    assert split_command(shlex.join(command)) == command
    assert is_own_command(split_command(shlex.join(command)), "hook", "codex")
