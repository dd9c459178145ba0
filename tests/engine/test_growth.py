"""A compressed life: hundreds of edits beside a worker leave the state dir small, between syncs too."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import pytest

from vaultmem.stores import caches, dense
from vaultmem.testing import HashingEmbedder

NOTES, EDITS = 110, 200
MOST_FILES, MOST_TIMES_FRESH = 100, 4
PATIENCE_S = 120.0


def use_of(folder: Path) -> tuple[int, int]:
    """How many files there are, and their bytes."""
    sizes = []
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                sizes.append((Path(place) / name).stat().st_size)
            except FileNotFoundError:
                continue
    return len(sizes), sum(sizes)


def text(n: int, turn: int) -> str:
    return f"alpha cache {n} turn {turn}\n\n## More\n\n" + f"beta gamma {turn} delta " * 80 + "\n"


def is_settled(engine, path: str) -> bool:
    with engine.parts.access.reader() as caches:
        row = caches.catalog.row_at(path)
    is_seen = row is not None and row.stat == engine.parts.vault.stat(path) and not row.is_pending
    return is_seen and engine.background.state == "idle"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_hundreds_of_edits_leave_few_files_and_little_waste(world, monkeypatch):
    monkeypatch.setattr(
        dense, "VERSIONS_KEPT_FOR_S", 0.02
    )  # a life in a minute: what is young is so for less
    world.embedder = HashingEmbedder(size=384)  # vectors of the size that the models make
    for n in range(NOTES):
        world.note(f"{n}.md", f"n{n}", text(n, 0))
    world.sync()
    _, fresh = use_of(world.state_dir)
    most_files = most_bytes = 0
    with world.engine(hold=True, watch=True) as engine:
        for turn in range(1, EDITS + 1):
            path = f"{turn * 7 % NOTES}.md"
            world.note(path, f"n{turn * 7 % NOTES}", text(turn * 7 % NOTES, turn))
            deadline = time.monotonic() + PATIENCE_S
            while not is_settled(engine, path):
                assert time.monotonic() < deadline, "the worker does not follow"
                time.sleep(0.005)
            files, size = use_of(world.state_dir)
            most_files, most_bytes = max(most_files, files), max(most_bytes, size)
    assert most_files <= MOST_FILES
    assert most_bytes <= MOST_TIMES_FRESH * fresh
    assert world.facts() == world.rebuilt()


def lock_of(world, name: str, *, days_old: float) -> Path:
    file = world.state_dir / "sessions" / f"{name}.lock"
    file.parent.mkdir(exist_ok=True)
    file.write_text("1\n")
    at = time.time() - days_old * 86_400
    os.utime(file, (at, at))
    return file


def test_locks_of_dead_sessions_go_after_a_day_and_events_never(world):
    world.note("a.md", "a")
    world.sync()
    event = world.root / ".vaultmem" / "events" / "s.jsonl"
    event.parent.mkdir(parents=True)
    event.write_text("{}\n")
    os.utime(event, (1, 1))
    dead, young, held = (
        lock_of(world, name, days_old=days) for name, days in (("dead", 1.1), ("young", 0.9), ("held", 3))
    )
    with held.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        world.note("a.md", "a", "changed\n")
        world.sync()
        assert (dead.exists(), young.exists(), held.exists()) == (False, True, True)
    assert event.read_text() == "{}\n"


def test_vectors_of_texts_that_nobody_has_any_more_do_not_pile_up(world, monkeypatch):
    monkeypatch.setattr(caches, "SPARE_VECTORS", 4)
    for turn in range(12):
        world.note("a.md", "a", text(0, turn))
        world.sync()
    with world.engine() as engine, engine.parts.access.reader() as opened:
        in_use = opened.catalog.chunk_count()
        assert opened.vectors is not None and opened.vectors.count() <= in_use + max(in_use, 4)
        assert set(opened.vectors.get(world.embedder.fingerprint, opened.catalog.chunk_hashes()))
    assert world.sync(full=True).chunks_embedded == 0
