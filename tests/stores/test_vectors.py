"""The cache of raw vectors."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from vaultmem.errors import StoreError
from vaultmem.stores.vectors import SECONDS_PER_DAY, VectorStore

DAY = SECONDS_PER_DAY
NOW = 1_780_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "vectors.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[VectorStore]:
    store = VectorStore.open(path)
    yield store
    store.close()


def vector(seed: int, size: int = 8) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=size).astype(np.float32)


def test_vectors_come_back_bit_for_bit(store: VectorStore) -> None:
    given = {f"h{n}": vector(n) for n in range(3)}
    store.put("model", given, NOW)
    read = store.get("model", ["h2", "h0", "missing", "h0"])
    assert set(read) == {"h0", "h2"}
    assert all(np.array_equal(read[name], given[name]) for name in read)
    assert read["h0"].dtype == np.float32


def test_models_do_not_see_each_other(store: VectorStore) -> None:
    store.put("one", {"h": vector(1)}, NOW)
    store.put("two", {"h": vector(2, size=4)}, NOW)
    assert store.get("one", ["h"])["h"].shape == (8,)
    assert store.get("two", ["h"])["h"].shape == (4,)
    assert store.get("three", ["h"]) == {}


def test_a_failing_put_leaves_no_trace(store: VectorStore) -> None:
    with pytest.raises(ValueError, match="float"):
        store.put("one", {"h": vector(1), "i": "no vector"}, NOW)  # type: ignore[dict-item]
    store.put("two", {"h": vector(2)}, NOW)
    assert store.get("one", ["h"]) == {}
    assert store.count() == 1


def test_thousands_are_read_at_once(store: VectorStore) -> None:
    store.put("model", {f"h{n}": vector(n) for n in range(2500)}, NOW)
    assert len(store.get("model", (f"h{n}" for n in range(5000)))) == 2500


def test_a_vector_that_is_put_again_is_replaced(store: VectorStore) -> None:
    store.put("model", {"h": vector(1)}, NOW)
    store.put("model", {"h": vector(2)}, NOW)
    assert np.array_equal(store.get("model", ["h"])["h"], vector(2))


def test_what_was_not_used_lately_is_pruned(store: VectorStore) -> None:
    store.put("model", {"old": vector(1), "used": vector(2)}, NOW - 40 * DAY)
    store.put("model", {"new": vector(3)}, NOW - 5 * DAY)
    store.touch("model", ["used", "missing"], NOW - 10 * DAY)
    assert store.has_older(NOW - 30 * DAY)
    assert store.prune("model", (), NOW - 30 * DAY, 9) == 1
    assert set(store.get("model", ["old", "used", "new"])) == {"used", "new"}
    assert not store.has_older(NOW - 30 * DAY)


def test_what_a_note_has_is_never_pruned_and_counts_as_used(store: VectorStore) -> None:
    store.put("model", {"old": vector(1), "gone": vector(2)}, NOW - 40 * DAY)
    assert store.prune("model", {"old"}, NOW - 30 * DAY, 9) == 1
    assert set(store.get("model", ["old", "gone"])) == {"old"}
    assert not store.has_older(NOW - 30 * DAY)


def test_the_vectors_of_another_model_are_spare_ones(store: VectorStore) -> None:
    for model in ("before", "now"):
        store.put(model, {"h": vector(1)}, NOW)
    assert store.count() == 2
    assert store.prune("now", {"h"}, NOW - 30 * DAY, 0) == 1
    assert not store.get("before", ["h"]) and store.get("now", ["h"])


def test_of_the_spare_ones_the_newest_are_kept(store: VectorStore) -> None:
    store.put("model", {f"h{n}": vector(n) for n in range(10)}, NOW)
    store.touch("model", ["h1"], NOW + DAY)
    assert store.prune("model", {"h0", "h5"}, NOW - 30 * DAY, 3) == 5
    assert set(store.get("model", [f"h{n}" for n in range(10)])) == {"h0", "h5", "h1", "h8", "h9"}


def test_touching_never_makes_a_vector_older(store: VectorStore) -> None:
    store.put("model", {"h": vector(1)}, NOW)
    store.touch("model", ["h"], NOW - 100 * DAY)
    store.touch("unknown model", ["h"], NOW)
    assert store.prune("model", (), NOW - 30 * DAY, 9) == 0


def test_a_second_touch_on_one_day_writes_nothing(store: VectorStore, path: Path) -> None:
    store.put("model", {f"h{n}": vector(n) for n in range(50)}, NOW)
    log = path.with_name(path.name + "-wal")
    before = log.stat().st_size
    store.touch("model", [f"h{n}" for n in range(50)], NOW + 60)
    assert log.stat().st_size == before


def test_pruning_gives_the_space_back(store: VectorStore, path: Path) -> None:
    store.put("model", {f"h{n}": vector(n, 384) for n in range(1000)}, NOW)
    store.prune("model", (), NOW + DAY, 9)
    assert path.stat().st_size < 100_000


def test_calibrations_are_kept_by_key(store: VectorStore) -> None:
    assert store.get_calibration("model") is None
    store.put_calibration("model", b"one")
    store.put_calibration("model", b"\0two")
    assert store.get_calibration("model") == b"\0two"


def test_a_reader_sees_what_a_writer_commits_and_cannot_write(store: VectorStore, path: Path) -> None:
    reader = VectorStore.open(path, writable=False)
    store.put("model", {"h": vector(1)}, NOW)
    assert set(reader.get("model", ["h"])) == {"h"}
    with pytest.raises(StoreError):
        reader.put("model", {"i": vector(1)}, NOW)
    reader.close()


def test_a_reader_does_not_make_the_file(path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        VectorStore.open(path, writable=False)
    assert not path.parent.exists()


def test_what_is_there_is_there_after_opening_again(store: VectorStore, path: Path) -> None:
    store.put("model", {"h": vector(1)}, NOW)
    store.close()
    again = VectorStore.open(path)
    assert set(again.get("model", ["h"])) == {"h"}
    again.close()


def test_threads_may_share_a_store(store: VectorStore) -> None:
    def work(name: str) -> None:
        for n in range(20):
            store.put(name, {f"{n}": vector(n)}, NOW)
            store.touch(name, [f"{n}"], NOW + DAY)
            found.append(len(store.get(name, [f"{n}"])))

    found: list[int] = []
    threads = [threading.Thread(target=work, args=(f"model {n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 80
    assert store.count() == 80


@pytest.mark.parametrize("size", [100, 5000])
def test_a_file_that_is_no_database_is_a_store_error(path: Path, size: int) -> None:
    path.parent.mkdir()
    path.write_bytes(os.urandom(size))
    with pytest.raises(StoreError, match=r"vectors\.sqlite"):
        VectorStore.open(path)


def test_a_database_of_someone_else_is_a_store_error_and_untouched(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(StoreError, match="not a vector cache"):
        VectorStore.open(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM theirs").fetchone() == (0,)
    connection.close()


def test_another_version_of_ours_is_a_store_error(store: VectorStore, path: Path) -> None:
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="version"):
        VectorStore.open(path)


def test_damage_found_while_reading_is_a_store_error(store: VectorStore, path: Path) -> None:
    store.put("model", {f"h{n}": vector(n, 384) for n in range(200)}, NOW)
    store.close()
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(StoreError):
        VectorStore.open(path).get("model", [f"h{n}" for n in range(200)])


def test_a_closed_store_is_a_store_error(store: VectorStore) -> None:
    store.close()
    with pytest.raises(StoreError):
        store.get("model", ["h"])


# --- damage


def change(path: Path, sql: str) -> None:
    with sqlite3.connect(path) as other:
        other.execute(sql)
    other.close()


def test_a_vector_that_is_not_as_it_was_kept_is_none(store: VectorStore, path: Path) -> None:
    store.put("model", {"h": vector(1), "i": vector(2)}, NOW)
    store.verify()
    change(path, "UPDATE vectors SET vector = zeroblob(32) WHERE text_hash = 'h'")
    assert set(store.get("model", ["h", "i"])) == {"i"}
    with pytest.raises(StoreError, match="1 damaged"):
        store.verify()
    store.put("model", {"h": vector(1)}, NOW)
    assert np.array_equal(store.get("model", ["h"])["h"], vector(1))


def test_a_vector_under_another_texts_hash_is_none(store: VectorStore, path: Path) -> None:
    store.put("model", {"h": vector(1)}, NOW)
    change(path, "UPDATE vectors SET text_hash = 'x'")
    assert store.get("model", ["x"]) == {}


def test_vectors_of_a_file_from_before_seals_are_kept(path: Path) -> None:
    VectorStore.open(path).close()
    change(path, "ALTER TABLE vectors DROP COLUMN seal")
    change(path, "INSERT INTO models VALUES (1, 'model')")
    change(path, "INSERT INTO vectors VALUES (1, 'h', 1, zeroblob(32))")
    VectorStore.open(path, writable=False).close()
    store = VectorStore.open(path)
    assert set(store.get("model", ["h"])) == {"h"}
    store.put("model", {"i": vector(1)}, NOW)
    store.verify()
    store.close()


def test_a_failure_says_which_store_it_is_of(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database at all, but long enough to be read as one")
    with pytest.raises(StoreError) as failed:
        VectorStore.open(path)
    assert failed.value.store == "vectors"
