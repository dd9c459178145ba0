"""How a shipped file is read, by its name: out of a folder or a zip, wherever the package lies."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

PLACE = "vaultmem.data"


def read_words(name: str) -> tuple[str, ...]:
    """The words or lines of a text file; blank lines and lines that start with `#` are left out."""
    return tuple(line.strip() for line in _lines(name) if line.strip() and not line.startswith("#"))


def read_records(name: str) -> tuple[dict[str, Any], ...]:
    """The records of a JSON-lines file."""
    return tuple(json.loads(line) for line in _lines(name) if line.strip())


def read_bytes(name: str) -> bytes | None:
    """The bytes of a file; None when there is none of this name."""
    file = files(PLACE) / name
    return file.read_bytes() if file.is_file() else None


def _lines(name: str) -> list[str]:
    return (files(PLACE) / name).read_text(encoding="utf-8").splitlines()
