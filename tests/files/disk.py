"""Files put on a disk, and a system that refuses."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest


def put(root: Path, path: str, text: str = "---\nid: x\n---\n") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def refuse(monkeypatch: pytest.MonkeyPatch, name: str, ending: str) -> None:
    """Let a system call fail for paths with this ending."""
    real = getattr(os, name)

    def call(path: str, *rest: object, **options: object) -> object:
        if os.fspath(path).rstrip("/").endswith(ending):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path, *rest, **options)

    monkeypatch.setattr(os, name, call)
