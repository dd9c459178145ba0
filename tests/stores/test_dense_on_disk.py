"""What only the real dense store can break: other processes beside it, and its use of the disk."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.stores.rows import DIMENSION, ROWS_PER_NOTE, filled, note, state
from vaultmem.stores import dense, dense_upkeep
from vaultmem.stores.dense import DenseStore

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
    reader = peer("busy_dense_reader", tmp_path, DIMENSION)
    turn = 0
    while turn < 10:  # a fast reader may be through before the writer has had a turn
        reader.say("go")
        while not reader.has_spoken:
            store.add(note(turn % 3, f"{turn}"))
            store.delete([(turn % 3, f"{turn - 3}" if turn >= 3 else "aa")])
            store.maintain(force=True)  # keeps no version but the newest
            turn += 1
        assert reader.hear() == "{(20, 40)}"


def test_a_killed_writer_leaves_whole_versions_and_no_lock(tmp_path: Path, peer: Callable) -> None:
    for _ in range(3):
        folder = tmp_path / "dense"
        writer = peer("dense_writer", folder)
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
