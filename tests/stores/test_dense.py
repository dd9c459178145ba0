"""What both dense stores promise: the real one and the fake that ships beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.stores.rows import DIMENSION, row, same, unit
from vaultmem.errors import StoreError
from vaultmem.stores.dense import DenseStore
from vaultmem.stores.dense_rows import Part
from vaultmem.testing import DictDenseStore, nearest

Store = DenseStore | DictDenseStore


@pytest.fixture(params=["lancedb", "dict"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "dict":
        return DictDenseStore(DIMENSION)
    return DenseStore(tmp_path / "dense", DIMENSION, writable=True)


def test_an_empty_store_answers_every_question(store: Store) -> None:
    assert store.near_notes(unit(1), 5) == set()
    assert store.rows([1, 2]) == []
    assert store.versions() == {}
    assert store.count() == 0
    assert store.probe()
    store.delete([(1, "aa")])
    store.delete_keys([1])
    store.maintain()
    store.maintain(force=True)


def test_rows_come_back_as_they_went_in(store: Store) -> None:
    given = [row(7, ordinal=n) for n in range(3)] + [row(7, part=Part.METADATA, heading="", lang="en")]
    store.add(given)
    read = store.rows([7])
    assert [r.part for r in read] == [Part.METADATA, Part.BODY, Part.BODY, Part.BODY]
    assert [r.ordinal for r in read] == [0, 0, 1, 2]
    assert all(same(one, other) for one, other in zip(read, [given[3], *given[:3]], strict=True))
    assert read[0].vector.dtype == np.float32


def test_rows_are_ordered_by_note_and_version_whatever_the_order_of_adding(store: Store) -> None:
    store.add([row(3), row(1, "bb"), row(2)])
    store.add([row(1, "aa")])
    assert [(r.note_key, r.digest) for r in store.rows([3, 1, 1])] == [(1, "aa"), (1, "bb"), (3, "aa")]


def test_many_keys_are_asked_at_once(store: Store) -> None:
    store.add([row(key) for key in range(0, 3000, 10)])
    assert [r.note_key for r in store.rows(range(3000))] == list(range(0, 3000, 10))


def test_the_nearest_rows_are_among_the_notes_that_are_proposed(store: Store) -> None:
    given = [row(key) for key in range(40)]
    store.add(given)
    query = unit(99)
    cosines = {r.note_key: float(r.vector @ query) for r in given}
    best = sorted(cosines, key=lambda key: -cosines[key])[:10]
    assert store.near_notes(query * 3, 10) == set(best)
    found = nearest(store, query * 3, 10)
    assert [r.note_key for r, _ in found] == best
    assert [cosine for _, cosine in found] == pytest.approx([cosines[key] for key in best], abs=1e-5)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_of_nothing_gives_nothing(store: Store, limit: int) -> None:
    store.add([row(1)])
    assert store.near_notes(unit(1), limit) == set()


def test_a_limit_beyond_the_rows_gives_all(store: Store) -> None:
    store.add([row(key) for key in range(5)])
    assert store.near_notes(unit(1), 5000) == set(range(5))


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_a_query_without_a_direction_finds_nothing(store: Store, value: float) -> None:
    store.add([row(1)])
    assert store.near_notes(np.full(DIMENSION, value, dtype=np.float32), 5) == set()


def test_delete_takes_exactly_the_named_versions(store: Store) -> None:
    store.add([row(key, digest, n) for key in (1, 2) for digest in ("aa", "bb") for n in range(2)])
    store.delete([(1, "aa"), (2, "bb"), (3, "aa")])
    assert store.versions() == {(1, "bb"): 2, (2, "aa"): 2}
    store.delete([])
    assert store.count() == 4


def test_delete_of_many_versions_is_exact(store: Store) -> None:
    store.add([row(key, digest) for key in range(1500) for digest in ("aa", "bb")])
    store.delete([(key, "aa" if key % 2 else "bb") for key in range(1500)])
    assert store.versions() == {(key, "bb" if key % 2 else "aa"): 1 for key in range(1500)}


def test_delete_keys_takes_every_version(store: Store) -> None:
    store.add([row(key, digest) for key in (1, 2, 3) for digest in ("aa", "bb")])
    store.delete_keys({1, 3, 9})
    store.delete_keys(())
    assert store.versions() == {(2, "aa"): 1, (2, "bb"): 1}


def test_a_store_that_was_emptied_takes_rows_again(store: Store) -> None:
    store.add([row(1)])
    store.delete_keys([1])
    store.add([row(2)])
    assert store.versions() == {(2, "aa"): 1}


def test_deleted_rows_are_not_found(store: Store) -> None:
    store.add([row(1), row(2)])
    store.delete([(1, "aa")])
    assert store.near_notes(row(1).vector, 5) == {2}


def test_a_digest_may_hold_any_character(store: Store) -> None:
    store.add([row(1, "it's"), row(1, "a\\b"), row(1, '";--')])
    store.delete([(1, "it's"), (1, '";--')])
    assert store.versions() == {(1, "a\\b"): 1}


def test_the_same_version_added_twice_is_counted_twice(store: Store) -> None:
    store.add([row(1)])
    store.add([row(1)])
    assert store.versions() == {(1, "aa"): 2}
    assert store.count() == 2


def test_upkeep_changes_no_answer(store: Store) -> None:
    store.add([row(key, ordinal=n) for key in range(30) for n in range(3)])
    store.delete_keys(range(0, 30, 3))
    found, versions = nearest(store, unit(5), 20), store.versions()
    store.maintain(force=True)
    assert store.versions() == versions
    assert [r.text_hash for r, _ in nearest(store, unit(5), 20)] == [r.text_hash for r, _ in found]
    assert store.probe()


def test_adding_nothing_is_no_work(store: Store) -> None:
    store.add([])
    assert store.versions() == {}


def test_a_vector_of_another_length_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="length"):
        store.add([row(1), row(2, vector=np.ones(DIMENSION + 1, dtype=np.float32))])
    assert store.count() == 0


def test_closing_twice_is_harmless(store: Store) -> None:
    store.add([row(1)])
    store.close()
    store.close()


def test_rows_are_read_by_column(store: Store) -> None:
    assert store.read([1]) is None
    given = [row(key) for key in range(1, 6)]
    store.add(given)
    read = store.read([2, 4, 9])
    assert read is not None
    assert sorted(read.column("note_key")) == [2, 4]
    at = read.column("note_key").index(4)
    assert read.rows([at, at])[1].text == given[3].text
    assert read.vectors[at] == pytest.approx(given[3].vector)
