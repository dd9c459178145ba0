"""kill -9 at random moments of a sync: never a torn note, a ghost, a missing memory, or a manual step."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys

import pytest

from vaultmem.stores.caches import StoreName
from vaultmem.sync.integrity import find_disagreement

NOTES = 300
KILLS = int(os.environ.get("VAULTMEM_KILLS", "20"))
SYNC = """
import sys
from vaultmem.engine.engine import Engine
from vaultmem.testing import HashingEmbedder
import lancedb, tantivy, numpy
root, state = sys.argv[1:]
engine = Engine.open(root, state, HashingEmbedder(size=16, delay_s=0.002))
print("ready", flush=True)
engine.sync()
print("done", flush=True)
"""


def change_some_notes(world, turn: int, chance: random.Random) -> None:
    """Edit, move, copy and delete some notes, as a sync tool would between two syncs."""
    files = sorted(world.root.rglob("*.md"))
    for file in chance.sample(files, 40):
        file.write_text(file.read_text("utf-8") + f"\nturn {turn} {chance.random()}\n", "utf-8")
    for file in chance.sample(files, 5):
        target = world.root / f"turn{turn}" / file.name
        target.parent.mkdir(exist_ok=True)
        file.rename(target)
    gone = chance.choice(sorted(world.root.rglob("*.md")))
    gone.unlink()
    world.note(f"turn{turn}/new.md", f"new{turn}", f"gamma {turn}\n")


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_sync_killed_at_a_random_moment_is_finished_by_the_next(world):
    chance = random.Random(20260514)
    for i in range(NOTES):
        world.note(f"2026/{i % 12 + 1:02}/n{i}.md", f"n{i}", f"alpha {i}\n\n" + f"paragraph {i} " * 60 + "\n")
    interrupted = 0
    for turn in range(KILLS):
        if turn % 7 == 0:
            shutil.rmtree(world.state_dir, ignore_errors=True)  # a first sync, too, is killed
        change_some_notes(world, turn, chance)
        before = {file: file.read_bytes() for file in world.root.rglob("*") if file.is_file()}
        interrupted += kill_a_sync(world, chance.uniform(0.0, 1.5 if turn % 7 == 0 else 0.6))
        world.sync()
        assert {file: file.read_bytes() for file in world.root.rglob("*") if file.is_file()} == before
        with world.engine() as engine, engine.access.reader() as caches:
            assert all(find_disagreement(caches, store).is_empty for store in StoreName)
            assert caches.catalog.counts().pending == 0
            assert (
                caches.catalog.counts().with_id
                == len(caches.catalog.versions(StoreName.DENSE))
                == len(before)
            )
        if turn % 10 == 9:
            assert world.facts() == world.rebuilt()
    assert interrupted > KILLS / 3, "most syncs ended before they were killed: the test does not test"


def kill_a_sync(world, after_s: float) -> bool:
    """Start a sync, kill it `after_s` after it is ready; whether it was still at work."""
    command = [sys.executable, "-c", SYNC, str(world.root), str(world.state_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"ready\n", process.stderr.read()
        try:
            process.wait(after_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return process.stdout.readline() != b"done\n"
    return False
