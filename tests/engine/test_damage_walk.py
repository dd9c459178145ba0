"""The walk: every file of the caches damaged in every way, and after at most one sync recall is right or says so.

A seeded sample by default; VAULTMEM_WALK=1 takes every step (`make torture`).
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import time
from pathlib import Path

import pytest

from tests.engine import walk
from tests.worlds import World

SHARE = float(os.environ.get("VAULTMEM_WALK", "0"))
LEAST = 3
"""Steps for each kind of file, whatever the share."""


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A world with a history, its whole state dir, and what a rebuild says."""
    world = World(tmp_path_factory.mktemp("walk"))
    walk.grown(world)
    whole = world.folder / "whole"
    shutil.copytree(world.state_dir, whole)
    expected = world.rebuilt()
    assert world.facts() == expected
    return world, whole, expected


def steps_of(whole):
    """A sample of the whole walk, the same for the same files, in which every kind of file comes up."""
    chance = random.Random(10)
    by_kind: dict[str, list[tuple[str, str, walk.Hurt]]] = {}
    for step in walk.walk(whole):
        by_kind.setdefault(step[0].rpartition(".")[2], []).append(step)
    for steps in by_kind.values():
        yield from chance.sample(steps, min(len(steps), max(LEAST, round(SHARE * len(steps)))))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_after_one_sync_recall_equals_a_rebuild(grown):
    world, whole, expected = grown
    wrong = []
    for name, damage, act in steps_of(whole):
        walk.put_back(world, whole)
        if not (world.state_dir / name).exists():
            continue
        act(world.state_dir / name)
        world.sync()
        with world.engine() as engine:
            is_well = engine.doctor().healthy
        if not is_well or world.facts() != expected:
            wrong.append((name, damage))
    assert wrong == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_doctor_is_never_content_while_recall_is_wrong(grown):
    """What doctor's own look at the notes has mended may be well again; what is not well is said."""
    world, whole, expected = grown
    wrong = []
    for name, damage, act in list(steps_of(whole))[::2]:
        walk.put_back(world, whole)
        if not (world.state_dir / name).exists():
            continue
        act(world.state_dir / name)
        with world.engine() as engine:
            is_content = engine.doctor().healthy
        if is_content and not walk.is_right_or_says_what_is_missing(world, expected):
            wrong.append((name, damage))
    assert wrong == []


def test_rot_that_leaves_every_stat_value_is_found_by_doctor(grown):
    """As below the file system; what a disk then says for these files no `stat` betrays."""
    world, whole, expected = grown
    walk.put_back(world, whole)
    with world.engine() as engine, engine.parts.access.writer() as caches, caches.catalog.transaction():
        text = caches.catalog.meta("lexical_seal")
        name = next(name for name in caches._sealed("lexical") if name.endswith(".fieldnorm"))
        digest = caches._sealed("lexical")[name].digest
        caches.catalog.set_meta("lexical_seal", text.replace(digest, "0" * len(digest)))
    with world.engine() as engine:
        report = engine.doctor()
        assert [c.name for c in report.checks if not c.ok] == ["lexical_intact"]
        assert engine.doctor(repair=True).healthy
    assert world.facts() == expected


@pytest.mark.parametrize("hurt", ["first", "middle", "last"])
def test_a_journal_that_a_killed_writer_left_and_a_disk_damaged_loses_nothing(grown, tmp_path, hurt):
    world, whole, expected = grown
    walk.put_back(world, whole)
    keeper = sqlite3.connect(world.state_dir / "catalog.sqlite")  # keeps SQLite from taking the journal in
    keeper.execute("SELECT count(*) FROM notes").fetchall()
    text = (world.root / "asked.md").read_text("utf-8")
    world.note("asked.md", "asked", "alpha something else\n")
    world.sync()
    (world.root / "asked.md").write_text(text, "utf-8")
    world.sync()
    killed = tmp_path / "killed"
    shutil.copytree(world.state_dir, killed)
    keeper.close()
    shutil.rmtree(world.state_dir)
    shutil.copytree(killed, world.state_dir)
    journal = world.state_dir / "catalog.sqlite-wal"
    assert journal.stat().st_size
    walk.flip(journal, int(walk.PLACES[hurt] * (journal.stat().st_size - 1)))
    world.sync()
    assert world.facts() == expected


@pytest.mark.parametrize("hurt", [Path.unlink, lambda file: walk.zero_page(file, 0)])
@pytest.mark.parametrize("pattern", ["lexical-*/*.store", "dense-*/*/data/*"])
def test_a_worker_mends_what_is_damaged_under_it_at_the_next_change(world, pattern, hurt):
    for name in ("a", "b", "c"):
        world.note(f"{name}.md", name, f"alpha {name}\n")
    world.sync()
    with world.engine(hold=True, watch=True) as engine:
        wait_until(lambda: engine.background.state == "idle")
        for file in world.state_dir.glob(pattern):
            hurt(file)
        world.note("d.md", "d", "alpha d\n")
        wait_until(lambda: is_whole(engine))
    assert world.facts() == world.rebuilt()


def is_whole(engine) -> bool:
    with engine.parts.access.reader() as caches:
        counts = caches.catalog.counts()
        return counts.notes == 4 and counts.pending == 0 and engine.background.state == "idle"


def wait_until(holds) -> None:
    deadline = time.monotonic() + 60.0
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
