"""Folders with notes to search, and what was found in them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from vaultmem.search.lines import Matches

Search = Callable[..., Matches]


def put(root: Path, name: str | bytes, text: str | bytes) -> None:
    path = Path(os.fsdecode(os.path.join(os.fsencode(root), os.fsencode(name))))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def places(found: Matches) -> list[tuple[str, int]]:
    return [(match.path, match.line) for match in found.matches]
