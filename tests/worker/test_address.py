"""Where a worker is found: what is told is read back, and whatever else lies there is no address."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from vaultmem.worker.address import (
    Address,
    address_name,
    find_address,
    remove_address,
    runtime_folders,
    write_address,
)

ADDRESS = Address(42, "/notes/名", "/state", False, "/run/x.sock")


@pytest.fixture
def folder(runtime_dir: Path) -> Path:
    (runtime_dir / "vaultmem").mkdir(mode=0o700)
    return runtime_dir / "vaultmem"


def test_an_address_is_found_as_it_was_told(folder: Path) -> None:
    write_address(str(folder), ADDRESS)
    assert find_address(ADDRESS.root) == ADDRESS
    assert [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()] == [0o600]


def test_it_is_taken_back_by_the_process_that_told_it_alone(folder: Path) -> None:
    write_address(str(folder), ADDRESS)
    remove_address(str(folder), ADDRESS.root, 41)
    assert find_address(ADDRESS.root) == ADDRESS
    for _ in range(2):
        remove_address(str(folder), ADDRESS.root, 42)
        assert find_address(ADDRESS.root) is None


@pytest.mark.parametrize(
    "text", ["", "[]", "null", '"v"', "{}", "[" * 200_000, '{"v":2}', '{"v":1}'], ids=lambda text: text[:9]
)
def test_what_is_no_address_is_none(folder: Path, text: str) -> None:
    (folder / address_name(ADDRESS.root)).write_text(text)
    assert find_address(ADDRESS.root) is None


def test_the_address_of_another_root_under_the_same_name_is_none(folder: Path) -> None:
    write_address(str(folder), ADDRESS._replace(root="/other"))
    (folder / address_name("/other")).rename(folder / address_name(ADDRESS.root))
    assert find_address(ADDRESS.root) is None


def test_a_root_that_is_no_text_has_an_address(folder: Path) -> None:
    """Its bytes are no UTF-8: Python reads them as lone surrogates."""
    root = os.fsdecode(b"/notes/\xff")
    write_address(str(folder), ADDRESS._replace(root=root))
    assert find_address(root) == ADDRESS._replace(root=root)


def test_a_link_in_its_place_is_not_read(folder: Path, tmp_path: Path) -> None:
    write_address(str(folder), ADDRESS)
    (folder / address_name(ADDRESS.root)).rename(tmp_path / "elsewhere")
    (folder / address_name(ADDRESS.root)).symlink_to(tmp_path / "elsewhere")
    assert find_address(ADDRESS.root) is None


def test_the_state_folder_is_the_place_that_nobody_else_can_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/nowhere")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/mei")
    assert list(runtime_folders())[-2:] == [
        f"/tmp/vaultmem-{os.getuid()}",
        "/home/mei/.local/state/vaultmem/run",
    ]
    monkeypatch.setenv("XDG_STATE_HOME", "/var/mei")
    assert "/var/mei/vaultmem/run" in list(runtime_folders())
