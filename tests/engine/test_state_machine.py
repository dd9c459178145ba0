"""After any sequence of changes, crashes and syncs the stores equal a rebuild from nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from vaultmem.engine.engine import Engine
from vaultmem.errors import WriterBusyError
from vaultmem.stores.catalog import Catalog
from vaultmem.stores.dense import DenseStore
from vaultmem.stores.lexical import LexicalStore

FOLDERS = ("2026/05/week1", "2026/05/week2", "2026/06/week1")
NAMES = ("a", "b", "c", "d")
WORDS = ("alpha", "beta", "gamma", "delta", "cache", "缓存", "顺序", "E0277")
paths = st.builds(lambda f, n: f"{f}/{n}.md", st.sampled_from(FOLDERS), st.sampled_from(NAMES))
bodies = st.lists(st.sampled_from(WORDS), min_size=0, max_size=12).map(lambda w: " ".join(w) + "\n")
note_ids = st.sampled_from(("one", "two", "three", "four", "five"))
LONG_AGO = 1_000_000_000


class Killed(BaseException):
    """Stands for kill -9: nothing of ours may catch it."""


MUTATIONS = (
    (LexicalStore, "add"),
    (LexicalStore, "delete"),
    (LexicalStore, "delete_keys"),
    (DenseStore, "add"),
    (DenseStore, "delete"),
    (DenseStore, "delete_keys"),
    (Catalog, "set_digests"),
    (Catalog, "write"),
    (Catalog, "set_meta"),
)


class killing_at:  # noqa: N801 - reads as a phrase
    """Inside, the process "dies" before or after the `step`-th change of a store or of the catalog."""

    def __init__(self, step: int) -> None:
        self._step = step
        self._originals = [(owner, name, getattr(owner, name)) for owner, name in MUTATIONS]
        self.was_reached = False

    def __enter__(self) -> killing_at:
        for owner, name, original in self._originals:
            setattr(owner, name, self._counted(original))
        return self

    def _counted(self, original):
        def mutate(store, *args, **kwargs):
            self._count()
            result = original(store, *args, **kwargs)
            self._count()
            return result

        return mutate

    def _count(self) -> None:
        self._step -= 1
        if self._step == 0:
            self.was_reached = True
            raise Killed

    def __exit__(self, kind, error, trace) -> bool:
        for owner, name, original in self._originals:
            setattr(owner, name, original)
        return kind is Killed


class Memories(RuleBasedStateMachine):
    make_world = staticmethod(lambda: None)

    @initialize()
    def begin(self) -> None:
        self.world = type(self).make_world()
        self.is_synced = False

    def existing(self) -> list[Path]:
        return sorted(self.world.root.rglob("*.md"))

    def settle(self, file: Path) -> None:
        """Written long ago, so that no note counts as half-written; the inode or ctime still tells the change."""
        os.utime(file, (LONG_AGO, LONG_AGO))

    @rule(path=paths, note_id=note_ids, body=bodies)
    def write(self, path, note_id, body):
        self.settle(self.world.note(path, note_id, body))
        self.is_synced = False

    @rule(path=paths, note_id=note_ids, status=st.sampled_from(("active", "deprecated", "odd")), tag=note_ids)
    def write_with_other_fields(self, path, note_id, status, tag):
        self.settle(self.world.note(path, note_id, status=status, tags=f"[{tag}]", description=""))
        self.is_synced = False

    @rule(
        path=paths,
        text=st.sampled_from(("", "no block\n", "---\nid: [\n---\nx\n", "---\nname: no id\n---\nalpha\n")),
    )
    def corrupt(self, path, text):
        self.settle(self.world.write(path, text))
        self.is_synced = False

    @precondition(lambda self: self.existing())
    @rule(data=st.data(), destination=paths)
    def move(self, data, destination):
        source = data.draw(st.sampled_from(self.existing()))
        target_file = self.world.root / destination
        target_file.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target_file)
        self.is_synced = False

    @precondition(lambda self: self.existing())
    @rule(data=st.data(), destination=paths)
    def duplicate(self, data, destination):
        source = data.draw(st.sampled_from(self.existing()))
        target_file = self.world.root / destination
        target_file.parent.mkdir(parents=True, exist_ok=True)
        if source != target_file:
            shutil.copy(source, target_file)
            self.settle(target_file)
        self.is_synced = False

    @precondition(lambda self: self.existing())
    @rule(data=st.data())
    def delete(self, data):
        data.draw(st.sampled_from(self.existing())).unlink()
        self.is_synced = False

    @rule(source=st.sampled_from(FOLDERS), other_name=st.sampled_from(("2027/01", "2026/05/week9")))
    def rename_folder(self, source, other_name):
        folder, other = self.world.root / source, self.world.root / other_name
        if folder.is_dir() and not other.exists():
            other.parent.mkdir(parents=True, exist_ok=True)
            folder.rename(other)
        self.is_synced = False

    @rule(embed=st.booleans(), full=st.booleans())
    def sync(self, embed, full):
        self.world.sync(embed=embed, full=full)
        self.is_synced = embed

    @rule(paths=st.lists(st.sampled_from((*FOLDERS, "2026", "2026/05/week1/a.md")), min_size=1, max_size=3))
    def sync_part(self, paths):
        self.world.sync(paths=paths)
        self.is_synced = False

    @rule(step=st.integers(1, 40))
    def die_in_a_sync(self, step):
        engine = self.world.engine()
        with killing_at(step):
            engine.sync()
        engine.parts.access._lock.release()
        self.is_synced = False

    @rule()
    def sync_beside_another_writer(self):
        """Two processes: the second is refused, and reads."""
        with self.world.engine(hold=True) as first, self.world.engine() as second:
            first.sync()
            with pytest.raises(WriterBusyError), second.parts.access.writer(timeout_s=0.0):
                pass
            second.recall("alpha", min_score=0.0)
        self.is_synced = True

    @invariant()
    def equals_a_rebuild(self):
        if getattr(self, "is_synced", False):
            assert self.world.facts() == self.world.rebuilt()

    def teardown(self):
        if hasattr(self, "world"):
            self.world.sync()
            said = self.world.facts()
            assert said == self.world.rebuilt()
            assert said["ghosts"] == []
            with self.world.engine() as engine:
                report = engine.doctor()
            assert report.caches_agree, report.checks
            shutil.rmtree(self.world.folder)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_any_sequence_of_changes_and_crashes_ends_as_a_rebuild(make_world):
    Memories.make_world = staticmethod(make_world)
    examples = int(os.environ.get("VAULTMEM_EXAMPLES", "12"))
    machine = Memories.TestCase
    machine.settings = settings(
        max_examples=examples,
        stateful_step_count=14,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=bool(os.environ.get("CI")),
    )
    machine().runTest()


@pytest.mark.slow
def test_a_sync_that_dies_at_any_step_is_finished_by_the_next(world):
    """Every step in turn: an edit, a move, a delete, a changed id and a new note in one sync."""
    step = 0
    while True:
        step += 1
        shutil.rmtree(world.state_dir, ignore_errors=True)
        for file in list(world.root.rglob("*.md")):
            file.unlink()
        for name in ("edit", "move", "delete", "rename-id"):
            world.note(f"{name}.md", name, f"alpha {name}\n")
        world.sync()
        world.note("edit.md", "edit", "delta gamma\n")
        (world.root / "move.md").rename(world.root / "moved.md")
        (world.root / "delete.md").unlink()
        world.note("rename-id.md", "other-id")
        world.note("new.md", "new", "缓存 顺序\n")
        engine = world.engine()
        with killing_at(step) as killer:
            engine.sync()
        engine.parts.access._lock.release()
        visible = {
            hint.id
            for hint in Engine.open(world.root, world.state_dir, world.embedder)
            .recall("alpha edit delta gamma", limit=9, min_score=0.0)
            .hints
        }
        assert "edit" in visible, f"an edited note was not to be found after a kill at step {step}"
        world.sync()
        if step % 5 == 0 or not killer.was_reached:
            assert world.facts() == world.rebuilt(), f"killed at step {step}"
        if not killer.was_reached:
            break
    assert step > 20
