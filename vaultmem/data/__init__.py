"""Files that ship with the package: calibration texts, stop words, small talk, off-topic prompts."""

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
