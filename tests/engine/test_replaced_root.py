"""Another folder lies in the root's place, as when a drive was taken away: nothing may be written into it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engine.asking import failing, hinted, save_new, tree
from tests.shell import VAULTMEM
from vaultmem.engine.engine import Engine
from vaultmem.errors import RootMissingError
from vaultmem.notes.metadata import Status
from vaultmem.notes.problems import Code
from vaultmem.views import Trashed

Verb = Callable[[Engine], object]

WRITES: dict[str, Verb] = {
    "save": save_new,
    "save an id": lambda engine: engine.save(id="a", description="new"),
    "tag": lambda engine: engine.edit_tags(None, path="left.md", add=["x"]),
    "describe": lambda engine: engine.edit_description(None, "new", path="left.md"),
    "deprecate": lambda engine: engine.set_status(None, Status.DEPRECATED, path="left.md"),
    "adopt": lambda engine: engine.adopt("bare.md"),
    "rename a tag": lambda engine: engine.rename_tag("t", "u"),
    "trash": lambda engine: engine.trash("left.md"),
    "restore": lambda engine: engine.restore(
        Trashed("back.md", str(engine.config.root.parent / ".trash" / "back.md"))
    ),
}


def swap(world, *, empty: bool = False) -> dict[str, bytes]:
    """Put another folder in the root's place; what it holds."""
    world.root.rename(world.folder / "away")
    world.root.mkdir()
    if not empty:
        world.note("left.md", "left")
        world.write("bare.md", "no block\n")
    return tree(world.root)


def swap_back(world) -> None:
    shutil.rmtree(world.root)
    (world.folder / "away").rename(world.root)


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("empty", [False, True])
def test_no_write_lands_in_another_folder_and_the_caches_stay(world, engine, name, empty):
    world.note("a.md", "a")
    engine.sync()
    trashed = world.root.parent / ".trash" / "back.md"
    trashed.parent.mkdir()
    shutil.copy(world.root / "a.md", trashed)
    found = swap(world, empty=empty)
    with pytest.raises(RootMissingError, match="was replaced by"):
        WRITES[name](engine)
    assert tree(world.root) == found and trashed.exists()
    swap_back(world)
    assert hinted(engine, "alpha") == ["a"]
    assert world.sync().changed == 0
    assert world.facts() == world.rebuilt()


def test_an_edit_that_was_shown_before_is_refused_too(world, engine):
    world.note("a.md", "a")
    planned = engine.edit_tags("a", add=["x"], dry_run=True)
    away = world.root.rename(world.folder / "away")
    world.root.mkdir()
    shutil.copy(away / "a.md", world.root / "b.md")
    for write in (lambda: engine.apply(planned, "tags"), lambda: engine.undo(planned)):
        with pytest.raises(RootMissingError):
            write()


def test_status_and_doctor_say_it_and_no_repair_takes_the_other_folder_over(world, engine):
    world.note("a.md", "a")
    engine.sync()
    swap(world)
    status, report = engine.status(), engine.doctor()
    assert (status.state, status.notes) == ("root_missing", 1) and "another folder" in status.message
    assert failing(report)[0] == "root" and report.diagnostics[0].code is Code.ROOT_MISSING
    assert report.diagnostics[0].message.count("memory root") == 1
    with pytest.raises(RootMissingError):
        engine.doctor(repair=True)
    with engine.parts.access.reader() as caches:
        assert set(caches.catalog.known()) == {"a.md"}


def test_a_restored_vault_stays_usable(world, engine):
    world.note("a.md", "a")
    world.note("b.md", "b")
    engine.sync()
    away = world.root.rename(world.folder / "away")
    shutil.copytree(away, world.root)
    (world.root / "b.md").unlink()
    saved = save_new(engine)
    assert {note.id for note in engine.notes()} == {"a", saved.memory.id}
    engine.edit_tags("a", add=["x"])
    world.sync()
    assert world.facts() == world.rebuilt()


def test_beside_a_watcher_no_write_lands_in_another_folder_either(world):
    world.note("a.md", "a")
    with world.engine(hold=True) as writer, world.engine() as engine:
        writer.sync()
        found = swap(world, empty=True)
        for verb in (save_new, lambda engine: engine.recall("alpha")):
            with pytest.raises(RootMissingError):
                verb(engine)
        assert tree(world.root) == found


def test_without_any_note_on_record_a_new_folder_is_just_a_new_folder(world, engine):
    engine.sync()
    world.root.rename(world.folder / "away")
    world.root.mkdir()
    assert save_new(engine).created


# --- a real mount


@pytest.fixture
def mounted(world) -> Iterator[Path]:
    """The memory root on a drive of its own."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("mounting needs root")
    done = subprocess.run(["mount", "-t", "tmpfs", "drive", str(world.root)], capture_output=True)
    if done.returncode:
        pytest.skip(f"no mounting here: {done.stderr.decode(errors='replace')}")
    try:
        yield world.root
    finally:
        subprocess.run(["umount", str(world.root)], capture_output=True)


def run(world, *words: str) -> subprocess.CompletedProcess[str]:
    places = ["--root", str(world.root), "--state-dir", str(world.state_dir), "--embed", "none"]
    return subprocess.run([*VAULTMEM, *places, *words], capture_output=True, text=True)


def test_a_save_while_the_disk_is_away_exits_3_and_leaves_nothing_beneath_the_mount(world, mounted):
    world.note("a.md", "a")
    assert run(world, "sync").returncode == 0
    backing = world.folder / "elsewhere"
    backing.mkdir()
    subprocess.run(["mount", "--move", str(world.root), str(backing)], check=True)
    try:
        memory = ["save", "--name", "n", "--description", "d", "--tag", "t", "--body", "b"]
        refused = run(world, *memory)
        assert refused.returncode == 3 and "was replaced by an empty folder" in refused.stderr
        assert os.listdir(world.root) == []
    finally:
        subprocess.run(["mount", "--move", str(backing), str(world.root)], check=True)
    assert run(world, *memory).returncode == 0
    assert len(list(world.root.rglob("*.md"))) == 2
