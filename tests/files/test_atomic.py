"""Files written as a whole: what they hold, what mode they get, what is left behind."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from vaultmem.files import atomic, beneath, exchange


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_written_is_there_whole_and_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    for data in (b"one", b"two" * 100_000):
        atomic.write_file(target, data)
        assert target.read_bytes() == data
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_file_keeps_its_mode_unless_another_is_asked_for(tmp_path: Path) -> None:
    target = tmp_path / "a.toml"
    target.write_bytes(b"")
    target.chmod(0o640)
    atomic.write_file(target, b"x")
    assert mode_of(target) == 0o640
    atomic.write_file(target, b"y", mode=0o600)
    assert mode_of(target) == 0o600
    assert atomic.create_file(tmp_path / "b", b"z", mode=0o600) and mode_of(tmp_path / "b") == 0o600


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old")

    def full(descriptor: int, data: bytes) -> None:
        raise OSError(28, "no room")

    monkeypatch.setattr(atomic, "write_all", full)
    with pytest.raises(OSError, match="no room"):
        atomic.write_file(target, b"new")
    assert target.read_bytes() == b"old" and os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("is_durable", [True, False])
def test_only_what_must_outlive_a_power_cut_is_forced_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_durable: bool
) -> None:
    forced = list[int]()
    monkeypatch.setattr(os, "fsync", forced.append)
    atomic.write_file(tmp_path / "a", b"x", is_durable=is_durable)
    assert len(forced) == (2 if is_durable else 0)  # the file and its folder


def test_a_move_that_fails_leaves_no_empty_file_in_the_new_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system has no rename to a free name, the name is claimed by an empty file first."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    (tmp_path / "a").write_text("precious")
    monkeypatch.setattr(exchange, "move_to_free_name", lambda *_: False)
    monkeypatch.setattr(os, "rename", refuse)
    with beneath.folder(tmp_path) as folder, pytest.raises(PermissionError):
        atomic.move(folder, "a", folder, "b")
    assert os.listdir(tmp_path) == ["a"] and (tmp_path / "a").read_text() == "precious"
