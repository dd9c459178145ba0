"""Files put on a disk, and a system that refuses."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="another user takes root to be")
ANOTHER_USER = 12345


def put(root: Path, path: str, text: str = "---\nid: x\n---\n") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def refuse(monkeypatch: pytest.MonkeyPatch, name: str, ending: str, number: int = errno.EACCES) -> None:
    """Let a system call fail for names with this ending."""
    real = getattr(os, name)

    def call(path: str | int, *rest: object, **options: object) -> object:
        if not isinstance(path, int) and os.fspath(path).rstrip("/").endswith(ending):
            raise OSError(number, os.strerror(number), path)
        return real(path, *rest, **options)

    monkeypatch.setattr(os, name, call)


def as_another_user(act: Callable[[], object]) -> str:
    """What a call raises when another user makes it, as text; "" when it does not. What it imports must be there."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.setgroups([])
            os.setgid(ANOTHER_USER)
            os.setuid(ANOTHER_USER)
            act()
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        text = said.read().decode()
    os.waitpid(child, 0)
    return text


def open_to_all(folder: Path) -> None:
    """Let everybody come here, from wherever pytest keeps its folders."""
    for place in (folder, *folder.parents[:-2]):
        place.chmod(place.stat().st_mode | 0o055)


@contextmanager
def deep_chain(root: Path, levels: int, name: str = "d") -> Iterator[int]:
    """A chain of folders too deep for what pytest tidies up with; a descriptor of the last one."""
    descriptor = os.open(root, os.O_RDONLY)
    try:
        for _ in range(levels):
            os.mkdir(name, dir_fd=descriptor)
            above, descriptor = descriptor, os.open(name, os.O_RDONLY, dir_fd=descriptor)
            os.close(above)
        yield descriptor
    finally:
        for _ in range(levels):
            for entry in os.listdir(descriptor):
                if entry != name:
                    os.unlink(entry, dir_fd=descriptor)
            inner, descriptor = descriptor, os.open("..", os.O_RDONLY, dir_fd=descriptor)
            os.close(inner)
            os.rmdir(name, dir_fd=descriptor)
        os.close(descriptor)
