"""While somebody exchanges a folder of notes for a link to a folder outside: nothing outside is read or written."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.worlds import note_text
from vaultmem.errors import VaultmemError

if not sys.platform.startswith("linux"):
    pytest.skip("the other process needs renameat2", allow_module_level=True)

EXCHANGER = Path(__file__).parent / "programs" / "exchanger.py"
PASSES = int(os.environ.get("VAULTMEM_PASSES", "12"))
NOTES = 6


@pytest.fixture
def outside(world) -> Path:
    """A folder with notes of the same names as those in `2026/05`, and a link to it."""
    folder = world.folder / "outside"
    (folder / "05").mkdir(parents=True)
    for n in range(NOTES):
        world.note(f"2026/05/n{n}.md", f"inside{n}", "alpha inside\n")
        (folder / "05" / f"n{n}.md").write_text(note_text(f"outside{n}", "alpha outside\n"))
    (world.folder / "link").symlink_to(folder)
    return folder


@contextlib.contextmanager
def exchanged(one: Path, other: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, EXCHANGER, one, other]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        yield process
        said, _ = process.communicate()
        assert int(said) > PASSES, "nothing was exchanged"


def state_of(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.name: (path.read_bytes(), path.stat().st_ino) for path in folder.rglob("*") if path.is_file()
    }


def test_no_note_outside_is_ever_indexed_shown_or_rewritten(world, outside):
    before = state_of(outside)
    with world.engine(hold=True) as engine:
        engine.sync()
        done = 0
        with exchanged(world.root / "2026", world.folder / "link"):
            for turn in range(PASSES):
                engine.sync(full=True, embed=False)
                shown = {note.id for note in engine.notes()}
                for n in range(NOTES):
                    path = f"2026/05/n{n}.md"
                    reading = engine.parts.vault.note_at(path)
                    shown.add(reading.note.id if reading else None)
                    with contextlib.suppress(VaultmemError):
                        done += engine.edit_tags(None, add=[f"turn{turn}"], path=path).changed
                    with contextlib.suppress(VaultmemError):
                        shown.add(engine.open_memory(f"inside{n}").id)
                assert not {i for i in shown if i and i.startswith("outside")}
                assert state_of(outside) == before
        engine.sync()
        assert done > PASSES / 4, "hardly an edit found its note"
        assert {note.id for note in engine.notes()} == {f"inside{n}" for n in range(NOTES)}
        assert sum(len(note.tags) for note in engine.notes()) == NOTES + done
    assert state_of(outside) == before


def test_nothing_is_made_moved_or_brought_back_outside(world, outside):
    before = state_of(outside)
    with world.engine(hold=True) as engine:
        vault = engine.parts.vault
        with exchanged(world.root / "2026", world.folder / "link"):
            for turn in range(PASSES):
                with contextlib.suppress(VaultmemError):
                    vault.create(f"2026/05/new/{turn}/n.md", b"new")
                for n in range(NOTES):
                    with contextlib.suppress(VaultmemError):
                        trashed = vault.trash(f"2026/05/n{n}.md")
                        assert b"inside" in trashed.read_bytes()
                        while True:
                            with contextlib.suppress(VaultmemError):
                                vault.restore(trashed, f"2026/05/n{n}.md")
                                break
                vault.sweep_leftovers(older_than_s=-1.0)
        assert state_of(outside) == before
        engine.sync()
        assert {note.id for note in engine.notes() if note.id} == {f"inside{n}" for n in range(NOTES)}
