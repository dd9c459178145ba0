"""Status: what the caches hold and who writes them, also where they are damaged or missing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.following import following
from vaultmem.engine.engine import Engine
from vaultmem.engine.status import said_by_worker
from vaultmem.errors import StoreError
from vaultmem.events import WatcherMode
from vaultmem.testing import HashingEmbedder


def test_before_the_first_sync_nothing_is_wrong_and_nothing_is_made(world):
    with world.engine() as engine:
        status = engine.status()
    assert (status.state, status.notes, status.last_scan_at) == ("never_synced", 0, None)
    assert "vaultmem sync" in status.message
    assert not world.state_dir.exists()


def test_status_tells_what_the_caches_hold(synced):
    synced.note("d.md", "d", status="deprecated")
    synced.note("e.md", "a")
    synced.note("f.md", "", name="no id")
    synced.sync()
    with synced.engine() as engine:
        status = engine.status()
    assert (status.state, status.message) == ("idle", "")
    assert (status.notes, status.admitted, status.deprecated, status.conflicts) == (6, 2, 1, 2)
    assert status.diagnostics["conflict_id"] == 2 and status.diagnostics["missing_id"] == 1
    assert (status.lexical.documents, status.dense.chunks, status.dense.pending) == (5, 10, 0)
    assert (status.dense.engine, status.dense.model) == ("hashing", "hashing")
    assert (status.writer.pid, status.writer.alive) == (None, False)
    assert status.last_scan_at is not None


def test_status_opens_no_note(synced, monkeypatch):
    with synced.engine() as engine:
        for name in ("read", "read_note", "scan"):
            monkeypatch.setattr(engine.parts.vault, name, None)
        assert engine.status().notes == 3


def test_without_vectors_status_says_why(synced):
    with Engine.open(synced.root, synced.state_dir, "none") as engine:
        dense = engine.status().dense
    assert (dense.engine, dense.pending) == ("none", 0)
    assert "words alone" in dense.note


def test_status_says_that_the_vectors_are_another_models(synced):
    synced.embedder = HashingEmbedder(size=8, model="other")
    with synced.engine() as engine:
        assert "another model" in engine.status().dense.note


@pytest.mark.parametrize("name", ["lexical", "dense"])
def test_a_torn_store_is_a_degraded_state_that_says_what_to_do(synced, name):
    next(synced.state_dir.glob(f"{name}-*/store.json")).write_text("{")
    with synced.engine() as engine:
        status = engine.status()
    assert status.state == "degraded"
    assert name in status.message and "vaultmem sync" in status.message
    assert status.notes == 3


def test_a_foreign_catalog_is_a_degraded_state(synced):
    for file in synced.state_dir.glob("catalog.sqlite*"):
        file.unlink()
    (synced.state_dir / "catalog.sqlite").write_bytes(b"no database" * 100)
    with synced.engine() as engine:
        status = engine.status()
    assert status.state == "degraded" and "vaultmem sync" in status.message


def test_a_missing_root_keeps_the_counts(synced):
    synced.root.rename(synced.folder / "away")
    with synced.engine() as engine:
        status = engine.status()
    assert (status.state, status.notes, status.diagnostics["root_missing"]) == ("root_missing", 3, 1)


def test_other_processes_read_what_it_is_doing_and_no_longer_once_it_is_gone(world):
    world.note("a.md", "a")
    with following(world), Engine.open(world.root, world.state_dir, "none") as other:
        status = other.status()
        assert (status.state, status.watcher, status.writer.pid) == ("idle", WatcherMode.NATIVE, os.getpid())
    with Engine.open(world.root, world.state_dir, "none") as other:
        status = other.status()
        assert (status.watcher, status.writer.alive) == (WatcherMode.OFF, False)
        with other.parts.access.writer(), Engine.open(world.root, world.state_dir, "none") as third:
            assert third.status().writer.alive


def test_what_a_worker_said_of_itself_counts_while_it_is_the_writer(parts):
    with parts.access.writer() as caches:
        assert said_by_worker(caches, 7) == {}
        with caches.catalog.transaction():
            caches.catalog.set_meta("worker", '{"pid": 7, "state": "embedding"}')
        assert said_by_worker(caches, 7)["state"] == "embedding"
        assert said_by_worker(caches, 8) == said_by_worker(caches, None) == {}


@pytest.fixture
def tiny_disk(world, request) -> Iterator[Path]:
    """A disk of 128 KiB, or of the size that the test names, with the state dir on it."""
    world.state_dir.mkdir(mode=0o700)
    size = getattr(request, "param", "128k")
    words = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "none", str(world.state_dir)]
    if os.geteuid() != 0 or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount, and not everywhere")
    yield world.state_dir
    subprocess.run(["umount", "-l", str(world.state_dir)], check=True)


@pytest.mark.parametrize("filled_kib", [40, 60, 80, 100, 120, 128])
def test_on_a_full_disk_status_says_to_make_room_and_blames_nothing_else(world, tiny_disk, filled_kib):
    world.note("a.md", "a")
    (tiny_disk / "film").write_bytes(bytes(filled_kib << 10))
    with Engine.open(world.root, world.state_dir, "none") as engine:
        with pytest.raises(StoreError) as refused:
            engine.sync()
        status = engine.status()
    for told in (f"{refused.value} {refused.value.advice}", status.message):
        assert "no room left" in told and "another version" not in told and "(None)" not in told
    (tiny_disk / "film").unlink()
    subprocess.run(["mount", "-o", "remount,size=64m", str(tiny_disk)], check=True)
    with Engine.open(world.root, world.state_dir, "none") as engine:
        engine.sync()
        assert (engine.status().state, engine.status().notes) == ("idle", 1)


@pytest.mark.parametrize("tiny_disk", ["12m"], indirect=True)
@pytest.mark.parametrize("asks_first", ["sync", "recall", "save"])
def test_caches_on_a_disk_that_fills_up_go_on_answering_and_lose_nothing(world, tiny_disk, asks_first):
    world.note("a.md", "a", body="the winch of the ferry")
    world.sync()
    film, chunk = (tiny_disk / "film").open("wb", buffering=0), bytes(4096)
    with pytest.raises(OSError, match="No space"), film:
        while True:
            film.write(chunk)
    with world.engine() as engine:
        if asks_first == "recall":
            assert [hint.id for hint in engine.recall("the winch of the ferry").hints] == ["a"]
        elif asks_first == "save":
            engine.save(name="Fog", description="fog closes the harbour", tags=["sea"], body="b")
        else:
            world.note("b.md", "b", body="fog closes the harbour")
            with pytest.raises(StoreError):
                engine.sync()
    with world.engine() as engine:
        assert [hint.id for hint in engine.recall("the winch of the ferry").hints] == ["a"]
        status = engine.status()
        assert (status.notes, status.dense.chunks) == (1, 2)
    (tiny_disk / "film").unlink()
    with world.engine() as engine:
        assert engine.sync().chunks_reused + engine.status().dense.chunks >= 2
        assert engine.doctor().caches_agree
