"""A memory root with one note, the environment of a server for it, and a client that sees every byte."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp_server.clients import Raw, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault" / "March Memories"
    root.mkdir(parents=True)
    write(root, "mem_a", "The prefix cache was cold.")
    return root


@pytest.fixture
def environ(root: Path, tmp_path: Path) -> dict[str, str]:
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("VAULTMEM", "MARCH", "CLAUDE"))
    }
    (tmp_path / "config.toml").touch()
    return {
        **kept,
        "HOME": str(tmp_path),
        "MARCH_MEMORY_ROOT": str(root),
        "VAULTMEM_STATE_DIR": str(tmp_path / "state"),
        "VAULTMEM_CONFIG": str(tmp_path / "config.toml"),
        "VAULTMEM_EMBEDDER": "none",
    }


@pytest.fixture
def raw(environ: dict[str, str]) -> Iterator[Raw]:
    client = Raw(environ)
    yield client
    client.process.kill()
    client.end()
    for stream in (client.process.stdout, client.process.stderr):
        assert stream
        stream.close()
