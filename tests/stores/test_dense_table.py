"""The folder of a dense store: what is made and opened there, what is refused, and every damage to it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.stores.peers import PROGRAMS
from tests.stores.rows import DIMENSION, ROWS_PER_NOTE, filled, note, vectors
from vaultmem.errors import StoreError
from vaultmem.stores.dense import DenseStore

# --- opening


def test_opening_and_asking_an_empty_store_imports_no_back_end(tmp_path: Path) -> None:
    command = [sys.executable, PROGRAMS / "empty_dense_store.py", tmp_path / "dense"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_a_reader_does_not_make_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        DenseStore(tmp_path / "dense", DIMENSION, writable=False)
    assert not (tmp_path / "dense").exists()


def test_a_reader_refuses_to_write(tmp_path: Path) -> None:
    filled(tmp_path, 1)
    reader = DenseStore(tmp_path, DIMENSION, writable=False)
    for write in (
        lambda: reader.add(note(2)),
        lambda: reader.delete([(0, "aa")]),
        lambda: reader.delete_keys([0]),
        lambda: reader.maintain(),
    ):
        with pytest.raises(StoreError, match="reading only"):
            write()


def test_a_reader_of_an_empty_store_sees_the_first_rows(tmp_path: Path) -> None:
    store = filled(tmp_path, 0)
    reader = DenseStore(tmp_path, DIMENSION, writable=False)
    assert reader.count() == 0
    store.add(note(1))
    assert reader.count() == ROWS_PER_NOTE


def test_a_folder_of_someone_else_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "theirs.txt").write_text("keep me")
    with pytest.raises(StoreError):
        DenseStore(tmp_path, DIMENSION, writable=True)
    assert [path.name for path in tmp_path.iterdir()] == ["theirs.txt"]


def test_another_dimension_or_version_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, 1)
    with pytest.raises(StoreError, match="version"):
        DenseStore(tmp_path, DIMENSION + 1, writable=True)
    stamp = json.loads((tmp_path / "store.json").read_text())
    (tmp_path / "store.json").write_text(json.dumps(stamp | {"version": 0}))
    with pytest.raises(StoreError, match="version"):
        DenseStore(tmp_path, DIMENSION, writable=True)


def test_a_table_with_other_columns_is_refused(tmp_path: Path) -> None:
    import lancedb

    DenseStore(tmp_path, DIMENSION, writable=True)
    lancedb.connect(tmp_path).create_table("chunks", data=[{"vector": [1.0], "theirs": "x"}])
    with pytest.raises(StoreError, match="version"):
        DenseStore(tmp_path, DIMENSION, writable=True).count()


# --- damage


def remove_table(folder: Path) -> None:
    shutil.rmtree(folder / "chunks.lance")


def remove_data(folder: Path) -> None:
    shutil.rmtree(folder / "chunks.lance" / "data")


def tear_data(folder: Path) -> None:
    for path in (folder / "chunks.lance" / "data").iterdir():
        os.truncate(path, path.stat().st_size // 2)


def scramble_data(folder: Path) -> None:
    for path in (folder / "chunks.lance" / "data").iterdir():
        path.write_bytes(os.urandom(path.stat().st_size))


def tear_manifests(folder: Path) -> None:
    for path in (folder / "chunks.lance" / "_versions").glob("*.manifest"):
        os.truncate(path, path.stat().st_size // 2)


def empty_manifests(folder: Path) -> None:
    for path in (folder / "chunks.lance" / "_versions").glob("*.manifest"):
        os.truncate(path, 0)


def scramble_stamp(folder: Path) -> None:
    (folder / "store.json").write_bytes(os.urandom(50))


def remove_stamp(folder: Path) -> None:
    (folder / "store.json").unlink()


def stamp_of_another_kind(folder: Path) -> None:
    (folder / "store.json").write_text("[]")


DAMAGES = [
    remove_table,
    remove_data,
    tear_data,
    scramble_data,
    tear_manifests,
    empty_manifests,
    scramble_stamp,
    remove_stamp,
    stamp_of_another_kind,
]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("writable", [True, False])
def test_every_damage_is_a_store_error_and_nothing_else(
    tmp_path: Path, damage: Callable[[Path], None], writable: bool
) -> None:
    filled(tmp_path, 3).close()
    damage(tmp_path)
    asks: list[Callable[[DenseStore], Any]] = [
        lambda store: store.count(),
        lambda store: store.versions(),
        lambda store: store.rows([1]),
        lambda store: store.near_notes(vectors(1)[0], 3),
        lambda store: store.probe(),
        lambda store: store.size_bytes(),
    ]
    failures = 0
    for ask in asks:
        try:
            ask(DenseStore(tmp_path, DIMENSION, writable=writable))
        except StoreError as error:
            failures += 1
            assert str(tmp_path) in str(error)
            assert error.advice
    assert failures


@pytest.mark.parametrize("damage", [remove_table, remove_data, empty_manifests, shutil.rmtree])
def test_damage_under_an_open_store_is_a_store_error(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    store = filled(tmp_path / "dense", 3)
    store.count()
    damage(tmp_path / "dense")
    with pytest.raises(StoreError):
        store.versions()
    with pytest.raises(StoreError):
        store.rows([1])
