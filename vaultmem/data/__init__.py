"""Files that ship: calibration texts and what the bundled model makes of them, words, small talk, prompts."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def read_words(name: str) -> tuple[str, ...]:
    """The words or lines of a text file here; blank lines and lines that start with `#` are left out."""
    lines = (files(__name__) / name).read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def read_records(name: str) -> tuple[dict[str, Any], ...]:
    """The records of a JSON-lines file here."""
    lines = (files(__name__) / name).read_text(encoding="utf-8").splitlines()
    return tuple(json.loads(line) for line in lines if line.strip())


def read_bytes(name: str) -> bytes | None:
    """The bytes of a file here; None when there is no such file."""
    file = files(__name__) / name
    return file.read_bytes() if file.is_file() else None
