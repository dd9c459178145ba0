"""Renames that never destroy, and systems without them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from vaultmem.files import beneath, exchange


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    with beneath.folder(tmp_path) as descriptor:
        yield descriptor


def test_two_files_change_places(folder: int, tmp_path: Path) -> None:
    (tmp_path / "缓存.md").write_text("one")
    (tmp_path / "b").write_text("other")
    assert exchange.swap(folder, "缓存.md", "b")
    assert ((tmp_path / "缓存.md").read_text(), (tmp_path / "b").read_text()) == ("other", "one")
    with pytest.raises(FileNotFoundError):
        exchange.swap(folder, "b", "gone")


def test_a_file_moves_to_a_free_name_only(folder: int, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    (tmp_path / "b").write_text("other")
    with pytest.raises(FileExistsError):
        exchange.move_to_free_name(folder, "a", folder, "b")
    assert exchange.move_to_free_name(folder, "a", folder, "c")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"b": "other", "c": "one"}


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM])
def test_a_file_system_without_them_is_told_apart_from_a_failure(
    folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    import ctypes

    def refused(*_: object) -> int:
        ctypes.set_errno(number)
        return -1

    monkeypatch.setattr(exchange, "_system_call", lambda: refused)
    assert not exchange.swap(folder, "a", "b")
    number = errno.EIO
    with pytest.raises(OSError) as failed:
        exchange.swap(folder, "a", "b")
    assert failed.value.errno == errno.EIO
    monkeypatch.setattr(exchange, "_system_call", lambda: None)
    assert not exchange.swap(folder, "a", "b")


def test_the_bare_system_call_does_the_same(
    folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ctypes

    real = ctypes.CDLL(None, use_errno=True)

    class WithoutRename:
        syscall = real.syscall

    if os.uname().sysname != "Linux":
        pytest.skip("macOS has no other way")
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: WithoutRename)
    (tmp_path / "a").write_text("one")
    (tmp_path / "b").write_text("other")
    exchange._system_call.cache_clear()
    try:
        assert exchange.swap(folder, "a", "b")
    finally:
        exchange._system_call.cache_clear()
    assert (tmp_path / "a").read_text() == "other"
