"""What only the real dense store can break: its folder, its index, and other processes beside it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from vaultmem.errors import StoreError
from vaultmem.stores import dense, dense_upkeep
from vaultmem.stores.dense import DenseStore
from vaultmem.stores.dense_rows import DenseRow, Part
from vaultmem.testing import nearest

DIMENSION = 16
ROWS_PER_NOTE = 4
EMPTY_STORE = Path(__file__).parent / "programs" / "empty_dense_store.py"


def vectors(count: int, seed: int = 0) -> np.ndarray:
    made = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def note(key: int, digest: str = "aa") -> list[DenseRow]:
    return [
        DenseRow(key, digest, Part.BODY, n, "", 1, 2, "text " * 20, f"{key}-{digest}-{n}", "en", vector)
        for n, vector in enumerate(vectors(ROWS_PER_NOTE, seed=key))
    ]


def filled(folder: Path, notes: int) -> DenseStore:
    store = DenseStore(folder, DIMENSION, writable=True)
    store.add([row for key in range(notes) for row in note(key)])
    return store


def state(store: DenseStore) -> dense_upkeep.TableState:
    return store._state(store._table.opened())


# --- opening


def test_opening_and_asking_an_empty_store_imports_no_back_end(tmp_path: Path) -> None:
    command = [sys.executable, EMPTY_STORE, tmp_path / "dense"]
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


# --- other processes


def test_a_reader_in_another_process_sees_each_commit(tmp_path: Path, peer: Callable) -> None:
    store = filled(tmp_path, 1)
    reader = peer("dense_reader", tmp_path, DIMENSION)
    assert reader.ask("?") == "[((0, 'aa'), 4)]"
    store.add(note(1, "bb"))
    assert reader.ask("?") == "[((0, 'aa'), 4), ((1, 'bb'), 4)]"
    store.delete([(0, "aa")])
    assert reader.ask("?") == "[((1, 'bb'), 4)]"
    store.maintain(force=True)
    assert reader.ask("?") == "[((1, 'bb'), 4)]"


def test_a_busy_reader_survives_the_clean_up_of_versions(tmp_path: Path, peer: Callable) -> None:
    store = filled(tmp_path, 20)
    reader = peer("dense_busy_reader", tmp_path, DIMENSION)
    turn = 0
    for _ in range(3):
        reader.say("go")
        while not reader.has_spoken:
            store.add(note(turn % 3, f"{turn}"))
            store.delete([(turn % 3, f"{turn - 3}" if turn >= 3 else "aa")])
            store.maintain(force=True)  # keeps no version but the newest
            turn += 1
        assert reader.hear() == "{(20, 40)}"
    assert turn > 3


def test_a_killed_writer_leaves_whole_versions_and_no_lock(tmp_path: Path, peer: Callable) -> None:
    for _ in range(3):
        folder = tmp_path / "dense"
        writer = peer("dense_writer", folder, DIMENSION, ROWS_PER_NOTE)
        while writer.hear() != "4":
            assert writer.process.poll() is None
        writer.kill()
        store = DenseStore(folder, DIMENSION, writable=True)
        assert set(store.versions().values()) <= {ROWS_PER_NOTE}
        store.add(note(777))
        store.maintain(force=True)
        assert store.versions()[777, "aa"] == ROWS_PER_NOTE
        store.close()
        shutil.rmtree(folder)


# --- disk use


def test_leftovers_of_a_killed_writer_are_removed(tmp_path: Path) -> None:
    store = filled(tmp_path, 5)
    orphan = tmp_path / "chunks.lance" / "data" / ("0" * 50 + ".lance")
    orphan.write_bytes(b"torn")
    store.maintain(force=True)
    assert not orphan.exists()
    assert store.count() == 5 * ROWS_PER_NOTE


def test_disk_use_stays_bounded_over_many_edits(tmp_path: Path) -> None:
    store = filled(tmp_path / "edited", 100)
    for turn in range(300):
        key = turn % 100
        store.add(note(key, f"{turn + 1}"))
        store.delete([(key, f"{turn - 99}" if turn >= 100 else "aa")])
        store.maintain()
    store.maintain(force=True)
    fresh = DenseStore(tmp_path / "fresh", DIMENSION, writable=True)
    fresh.add([row for key in range(100) for row in note(key, f"{201 + key}")])
    fresh.maintain(force=True)
    assert store.versions() == fresh.versions()
    assert store.size_bytes() < 1.5 * fresh.size_bytes()
    manifests = list((tmp_path / "edited" / "chunks.lance" / "_versions").glob("*.manifest"))
    assert len(manifests) < 5


def test_old_versions_are_removed_without_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "VERSIONS_KEPT_FOR_S", 0.001)
    store = filled(tmp_path, 10)
    most = 0
    for turn in range(dense_upkeep.PRUNABLE_VERSIONS):
        store.add(note(100 + turn))
        store.delete([(100 + turn, "aa")])
        store.maintain()
        most = max(most, state(store).prunable_versions)
    assert most < dense_upkeep.PRUNABLE_VERSIONS + 5


# --- the vector index


@pytest.fixture
def small_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index from 400 rows on, so that few rows show what many would."""
    for name, value in (("INDEX_FROM_ROWS", 400), ("UNINDEXED_ROWS", 400), ("IN_CHILD_FROM_ROWS", 1200)):
        monkeypatch.setattr(dense_upkeep, name, value)


def recall_of(store: DenseStore, kept: dict[str, np.ndarray], queries: int = 20) -> float:
    names, matrix = list(kept), np.stack(list(kept.values()))
    found = 0
    for query in vectors(queries, seed=10**6):
        exact = {names[index] for index in np.argsort(-(matrix @ query))[:50]}
        found += len(exact & {row.text_hash for row, _ in nearest(store, query, 50)})
    return found / queries / 50


def by_hash(rows: list[DenseRow]) -> dict[str, np.ndarray]:
    return {row.text_hash: row.vector for row in rows}


@pytest.mark.usefixtures("small_index")
def test_the_index_is_built_once_it_pays_and_finds_the_exact_top_fifty(tmp_path: Path) -> None:
    store = filled(tmp_path, 90)
    store.maintain()
    assert state(store).segments == 0
    store.add([row for key in range(90, 200) for row in note(key)])
    store.maintain()
    assert state(store).segments == 1
    assert state(store).unindexed_rows == 0
    assert recall_of(store, by_hash(store.rows(range(200)))) >= 0.98
    assert store.probe()


@pytest.mark.usefixtures("small_index")
def test_new_rows_are_found_at_once_and_deleted_ones_never(tmp_path: Path) -> None:
    store = filled(tmp_path, 150)
    store.maintain(force=True)
    store.add(note(999, "new"))
    store.delete_keys(range(0, 150, 2))
    assert nearest(store, note(999)[0].vector, 1)[0][0].digest == "new"
    assert not store.near_notes(note(4)[0].vector, 300) & set(range(0, 150, 2))
    store.maintain(force=True)
    assert nearest(store, note(999)[0].vector, 1)[0][0].digest == "new"
    assert recall_of(store, by_hash(store.rows(range(1000)))) >= 0.98


@pytest.mark.usefixtures("small_index")
def test_a_large_index_is_built_in_a_child_while_the_store_is_edited(tmp_path: Path) -> None:
    store = filled(tmp_path, 320)
    store.maintain()
    assert store._build is not None
    turn = 0
    while store._build is not None and store._build.is_running and turn < 50:
        store.add(note(turn % 320, f"{turn}"))
        store.delete([(turn % 320, f"{turn - 320}" if turn >= 320 else "aa")])
        store.maintain()
        turn += 1
    store.maintain(force=True)
    assert store._build is None
    assert state(store).segments >= 1
    expected = {(key, "aa"): ROWS_PER_NOTE for key in range(turn, 320)}
    expected |= {(last % 320, f"{last}"): ROWS_PER_NOTE for last in range(max(0, turn - 320), turn)}
    assert store.versions() == expected
    rows = store.rows(range(320))
    assert all(np.array_equal(row.vector, note(row.note_key)[row.ordinal].vector) for row in rows)
    assert recall_of(store, by_hash(rows)) >= 0.98


@pytest.mark.usefixtures("small_index")
def test_closing_waits_for_a_child(tmp_path: Path) -> None:
    store = filled(tmp_path, 320)
    store.maintain()
    store.close()
    again = DenseStore(tmp_path, DIMENSION, writable=True)
    assert state(again).segments == 1


@pytest.mark.usefixtures("small_index")
@pytest.mark.parametrize("interpreter", ["/bin/false", "/no/such/python"])
def test_a_child_that_fails_costs_nothing_but_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interpreter: str
) -> None:
    monkeypatch.setattr(sys, "executable", interpreter)
    store = filled(tmp_path, 320)
    store.maintain(force=True)
    assert state(store).segments == 0
    assert len(nearest(store, vectors(1)[0], 50)) == 50
    store.maintain()
    assert store._build is None, "it is not tried again at once"


def test_a_child_dies_with_its_parent(peer: Callable) -> None:
    child = peer("build_orphan")
    assert child.hear() == "waiting"
    child.hang_up()
    assert child.process.wait(timeout=30) == 2


def test_on_a_full_disk_the_advice_is_to_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(tmp_path / "dense", 2)
    shutil.rmtree(next((tmp_path / "dense").glob("*.lance/data")))
    with pytest.raises(StoreError) as failure:
        store.rows([1])
    assert "doctor --repair" in failure.value.advice
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1 << 20))
    with pytest.raises(StoreError) as failure:
        store.rows([1])
    assert "no room left" in failure.value.advice
