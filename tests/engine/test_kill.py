"""kill -9 at random moments of a sync or an edit: never a torn note, a ghost, a lost save, or a manual step."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vaultmem.notes.problems import Code
from vaultmem.stores.caches import StoreName
from vaultmem.sync.integrity import find_disagreement

NOTES = 300
KILLS = int(os.environ.get("VAULTMEM_KILLS", "20"))
ENDLESS_TAGS = Path(__file__).parent / "programs" / "endless_tags.py"
SLOW_SYNC = Path(__file__).parent / "programs" / "slow_sync.py"


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
        with world.engine() as engine, engine.parts.access.reader() as caches:
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
    command = [sys.executable, SLOW_SYNC, world.root, world.state_dir]
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


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_edits_killed_at_a_random_moment_beside_somebody_who_saves_lose_nothing(world):
    """The other saver works in lines: each is in its note afterwards, or in a version that is kept and told of."""
    chance = random.Random(20260515)
    files = [world.note(f"n{i}.md", f"n{i}", f"line 0 of {i}\n") for i in range(3)]
    number = 0
    for _ in range(KILLS):
        last = dict[Path, bytes]()
        with tagging(world):
            for _ in range(chance.randrange(1, 40)):
                number += 1
                file = chance.choice(files)
                last[file] = b"line %d of %s" % (number, file.stem[1:].encode())
                save(file, re.sub(rb"line .*", last[file], file.read_bytes()), chance)
                time.sleep(chance.choice((0.0, 0.0, 0.002)))
        with world.engine() as engine:
            engine.parts.vault.sweep_leftovers(older_than_s=-1.0)
            engine.sync()
            told = "".join(d.diff for d in engine.diagnostics() if d.code is Code.LOST_VERSION).encode()
            assert {note.id for note in engine.notes() if note.admitted} == {"n0", "n1", "n2"}
        for file, line in last.items():
            assert line in file.read_bytes() or line in told, f"{line!r} is gone"
        assert {path.name for path in world.root.iterdir()} - {".vaultmem"} == {file.name for file in files}
        shutil.rmtree(world.root / ".vaultmem", ignore_errors=True)
    assert world.facts() == world.rebuilt()


@contextmanager
def tagging(world) -> Iterator[None]:
    """Another process that tags the notes all the time, and is killed in the end."""
    command = [sys.executable, ENDLESS_TAGS, world.root, world.state_dir]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"ready\n", process.stderr.read()
        yield
        assert process.poll() is None, process.stderr.read()
        process.send_signal(signal.SIGKILL)


def save(file: Path, text: bytes, chance: random.Random) -> None:
    """As editors do: over a temporary file, or in place."""
    if chance.random() < 0.5:
        (file.parent / "editor.tmp").write_bytes(text)
        (file.parent / "editor.tmp").replace(file)
    else:
        file.write_bytes(text)
