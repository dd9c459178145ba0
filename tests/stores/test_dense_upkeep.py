"""When the dense table wants what, and what the vector index is worth once it is there."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.stores.rows import DIMENSION, ROWS_PER_NOTE, filled, note, state, vectors
from vaultmem.stores import dense_upkeep
from vaultmem.stores.dense import DenseStore
from vaultmem.stores.dense_rows import DenseRow
from vaultmem.stores.dense_upkeep import (
    IN_CHILD_FROM_ROWS,
    INDEX_FROM_ROWS,
    MOST_SEGMENTS,
    PRUNABLE_OF_SMALL,
    PRUNABLE_VERSIONS,
    UNINDEXED_KEYS,
    UNINDEXED_ROWS,
    TableState,
    Upkeep,
    wanted_upkeep,
)
from vaultmem.testing import nearest

SMALL = TableState(
    rows=500, deleted_rows=0, prunable_versions=3, unindexed_keys=20, segments=0, unindexed_rows=500
)
INDEXED = TableState(
    rows=8_000, deleted_rows=0, prunable_versions=3, unindexed_keys=20, segments=1, unindexed_rows=20
)
LARGE = replace(INDEXED, rows=100_000)


@pytest.mark.parametrize("state", [SMALL, INDEXED, LARGE, replace(SMALL, rows=0, unindexed_rows=0)])
def test_a_table_in_order_wants_nothing(state: TableState) -> None:
    assert wanted_upkeep(state) is Upkeep.NOTHING


@pytest.mark.parametrize("state", [SMALL, INDEXED, LARGE])
def test_many_old_versions_or_unindexed_keys_want_tidying(state: TableState) -> None:
    assert wanted_upkeep(replace(state, prunable_versions=PRUNABLE_VERSIONS)) is Upkeep.TIDY
    assert wanted_upkeep(replace(state, unindexed_keys=UNINDEXED_KEYS)) is Upkeep.TIDY


def test_of_a_small_table_a_few_old_versions_are_many() -> None:
    few = {"prunable_versions": PRUNABLE_OF_SMALL}
    assert wanted_upkeep(replace(SMALL, **few)) is Upkeep.TIDY
    assert wanted_upkeep(replace(INDEXED, **few)) is Upkeep.NOTHING


def test_a_table_that_grew_wants_its_first_index() -> None:
    grown = replace(SMALL, rows=INDEX_FROM_ROWS, unindexed_rows=INDEX_FROM_ROWS)
    assert wanted_upkeep(grown) is Upkeep.REBUILD
    assert wanted_upkeep(replace(grown, rows=IN_CHILD_FROM_ROWS)) is Upkeep.REBUILD_IN_CHILD


@pytest.mark.parametrize(("state", "upkeep"), [(INDEXED, Upkeep.REBUILD), (LARGE, Upkeep.REBUILD_IN_CHILD)])
def test_a_worn_index_is_rebuilt(state: TableState, upkeep: Upkeep) -> None:
    assert wanted_upkeep(replace(state, segments=MOST_SEGMENTS)) is Upkeep.NOTHING
    assert wanted_upkeep(replace(state, segments=MOST_SEGMENTS + 1)) is upkeep
    assert wanted_upkeep(replace(state, unindexed_rows=UNINDEXED_ROWS + 1)) is upkeep


def test_holes_in_a_large_table_are_the_childs_work() -> None:
    assert wanted_upkeep(replace(LARGE, deleted_rows=10_000)) is Upkeep.REBUILD_IN_CHILD
    assert wanted_upkeep(replace(INDEXED, deleted_rows=4_000)) is Upkeep.NOTHING


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
