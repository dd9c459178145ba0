"""When the dense table wants what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vaultmem.stores.dense_upkeep import (
    IN_CHILD_FROM_ROWS,
    INDEX_FROM_ROWS,
    MOST_SEGMENTS,
    PRUNABLE_VERSIONS,
    UNINDEXED_KEYS,
    UNINDEXED_ROWS,
    TableState,
    Upkeep,
    wanted_upkeep,
)

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
