"""What the stores that live in a folder have in common."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.stores.rows import filled
from vaultmem.errors import StoreError
from vaultmem.stores.catalog import Catalog
from vaultmem.stores.folders import (
    ROOM_WANTED_BYTES,
    advice_for,
    close_to_others,
    demand_means,
    failures_of,
    folder_bytes,
    in_parts,
    is_full,
    is_vacant,
)
from vaultmem.stores.vectors import VectorStore

LOCKS = Path("/proc/locks")


def test_on_a_full_disk_the_advice_is_to_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(tmp_path / "dense", 2)
    shutil.rmtree(next((tmp_path / "dense").glob("*.lance/data")))
    with pytest.raises(StoreError) as failure:
        store.rows([1])
    assert "doctor --repair" in failure.value.advice
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 20))
    with pytest.raises(StoreError) as failure:
        store.rows([1])
    assert "no room left" in failure.value.advice


def test_a_disk_is_full_below_what_a_store_wants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = ROOM_WANTED_BYTES - 1
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    assert "no room left" in advice_for(tmp_path, "do that")
    with pytest.raises(StoreError, match="full"):
        demand_means(tmp_path)
    free += 1
    assert advice_for(tmp_path, "do that") == "do that"
    demand_means(tmp_path)


def test_where_the_disk_cannot_be_asked_the_advice_is_the_usual_one(tmp_path: Path) -> None:
    assert advice_for(tmp_path / "gone", "do that") == "do that" and not is_full(tmp_path / "gone")


@pytest.mark.parametrize(("spare", "is_enough"), [(200, True), (20, False)])
def test_a_process_that_may_open_no_more_files_throws_nothing_away(
    tmp_path, monkeypatch, spare, is_enough
) -> None:
    limit = len(list(Path("/dev/fd").iterdir())) + spare
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    if is_enough:
        demand_means(tmp_path)
    else:
        with pytest.raises(StoreError, match="too many open files") as refused:
            demand_means(tmp_path)
        assert "ulimit -n" in refused.value.advice


class PanicException(BaseException):
    """A panic in a back end, which is no Exception."""


@pytest.mark.parametrize("failure", [ValueError("torn"), OSError("torn"), PanicException("torn")])
def test_every_failure_inside_is_a_store_error_that_names_the_store_and_its_folder(
    tmp_path: Path, failure: BaseException
) -> None:
    with (
        pytest.raises(StoreError, match=r"lexical store .* torn") as raised,
        failures_of("lexical", tmp_path),
    ):
        raise failure
    assert str(tmp_path) in str(raised.value) and "doctor --repair" in raised.value.advice
    assert raised.value.__cause__ is failure


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), StoreError("said well already")])
def test_interrupts_and_what_is_said_well_already_go_through(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)) as raised, failures_of("lexical", tmp_path):
        raise error
    assert raised.value is error


def test_a_store_may_be_made_where_nothing_is(tmp_path: Path) -> None:
    assert is_vacant(tmp_path) and is_vacant(tmp_path / "none")
    (tmp_path / "file").write_bytes(b"")
    assert not is_vacant(tmp_path) and not is_vacant(tmp_path / "file")


def test_a_folder_takes_what_its_files_take(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "deep" / "er" / "b").write_bytes(b"123")
    (tmp_path / "leads nowhere").symlink_to(tmp_path / "none")
    assert folder_bytes(tmp_path) == 8
    assert folder_bytes(tmp_path / "none") == 0


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("opened", [lambda path: Catalog(path, writable=True), VectorStore.open])
def test_whatever_the_umask_nobody_else_can_read_the_file_or_its_journals(
    tmp_path: Path, open_umask: None, opened: Callable[[Path], Catalog | VectorStore]
) -> None:
    path = tmp_path / "c.sqlite"
    with contextlib.closing(opened(path)):
        assert len(list(tmp_path.iterdir())) == 3
        assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}
        for file in tmp_path.iterdir():
            file.chmod(0o644)  # as earlier versions made them
        opened(path).close()
        assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}


@pytest.mark.skipif(not LOCKS.exists(), reason="the system does not list its locks")
def test_closing_it_to_others_ends_no_lock_of_this_process(tmp_path: Path) -> None:
    """POSIX locks of a process end when it closes any descriptor of the file."""
    path = tmp_path / "c.sqlite"
    with contextlib.closing(Catalog(path, writable=True)):
        inode = f":{path.stat().st_ino} "
        assert inode in LOCKS.read_text()
        close_to_others(path)
        assert inode in LOCKS.read_text()


def test_a_link_or_a_folder_in_its_place_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "outside").touch(mode=0o644)
    (tmp_path / "c.sqlite").symlink_to(tmp_path / "outside")
    close_to_others(tmp_path / "c.sqlite")
    assert stat.S_IMODE((tmp_path / "outside").stat().st_mode) == 0o644


def test_parts_hold_every_value_once_in_its_order() -> None:
    for count in range(8):
        parts = list(in_parts(range(count), 3))
        assert [value for part in parts for value in part] == list(range(count))
        assert all(1 <= len(part) <= 3 for part in parts) and len(parts) == -(-count // 3)
