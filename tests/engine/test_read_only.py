"""A state dir that may not be written, as on a read-only mount: whole caches answer, and say as of when."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.worlds import World

SETPRIV = shutil.which("setpriv")
AS_OTHERS = [SETPRIV or "", "--bounding-set=-dac_override,-dac_read_search"] if os.getuid() == 0 else []
"""Root writes everywhere; without these capabilities it is bound by modes as everybody is."""

pytestmark = pytest.mark.skipif(bool(AS_OTHERS) and not SETPRIV, reason="root, and no setpriv to be less")


@pytest.fixture
def asked(world, tmp_path):
    """Ask a `vaultmem` that may not write the state dir: (exit code, stdout, stderr)."""
    for name in ("a", "b", "c"):
        world.note(f"{name}.md", name, f"alpha {name}\n")
    with world.engine() as engine:
        engine.sync()

    def ask(*words: str) -> tuple[int, str, str]:
        modes = {path: path.stat().st_mode for path in (world.state_dir, *world.state_dir.rglob("*"))}
        for path, mode in modes.items():
            path.chmod(mode & 0o555)
        before = {path: path.read_bytes() for path in modes if path.is_file()}
        home = tmp_path / "home"
        environment = {**os.environ, "HOME": str(home), "TMPDIR": str(tmp_path), "VAULTMEM_EMBEDDER": "none"}
        environment |= {"MARCH_MEMORY_ROOT": str(world.root), "VAULTMEM_STATE_DIR": str(world.state_dir)}
        command = [*AS_OTHERS, sys.executable, "-m", "vaultmem", *words]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, check=False, timeout=120
        )
        for path, mode in modes.items():
            path.chmod(mode)
        assert {path: path.read_bytes() for path in before} == before
        assert set(world.state_dir.rglob("*")) == set(modes) - {world.state_dir}
        assert not list(tmp_path.glob("vaultmem-*")), "copies and links go with the process"
        return done.returncode, done.stdout, done.stderr

    return ask


def test_every_question_is_answered_and_said_to_be_as_of_then(asked):
    for words, wanted in (
        (("recall", "alpha", "--min-score", "0"), "- a | "),
        (("search", "alpha"), "alpha a"),
        (("open", "a"), "alpha a"),
        (("notes",), "a.md"),
    ):
        code, out, err = asked(*words)
        assert (code, wanted in out) == (0, True), (words, out, err)
        assert "may not be written: notes are indexed as of 20" in err


def test_status_counts_and_says_as_of_when(asked):
    code, out, _ = asked("status", "--json")
    said = json.loads(out)
    assert (code, said["notes"], said["admitted"], said["lexical"]["documents"]) == (0, 3, 3, 3)
    assert "as of" in said["message"]


def test_recall_says_so_in_its_document(asked):
    said = json.loads(asked("recall", "alpha", "--min-score", "0", "--json")[1])
    assert len(said["hints"]) == 3 and "as of" in said["trouble"]


def test_what_differs_on_disk_is_still_looked_at(world, asked):
    (world.root / "a.md").unlink()
    world.note("b.md", "b", "alpha b\n", status="deprecated")
    said = json.loads(asked("recall", "alpha", "--min-score", "0", "--json")[1])
    assert [hint["id"] for hint in said["hints"]] == ["c"]


@pytest.mark.parametrize("is_index_left", [True, False])
def test_the_journal_of_a_killed_writer_is_read_along(world, asked, tmp_path, is_index_left):
    keeper = sqlite3.connect(world.state_dir / "catalog.sqlite")  # keeps SQLite from taking the journal in
    keeper.execute("SELECT count(*) FROM notes").fetchall()
    world.note("late.md", "late", "alpha late\n")
    world.sync()
    shutil.copytree(world.state_dir, tmp_path / "killed")
    keeper.close()
    shutil.rmtree(world.state_dir)
    shutil.copytree(tmp_path / "killed", world.state_dir)
    assert (world.state_dir / "catalog.sqlite-wal").stat().st_size
    if not is_index_left:
        (world.state_dir / "catalog.sqlite-shm").unlink()
    assert "late" in asked("recall", "late", "--min-score", "0")[1]
    assert json.loads(asked("status", "--json")[1])["notes"] == 4


def test_an_empty_one_is_refused_with_what_to_do(tmp_path):
    world = World(tmp_path / "other")
    world.note("a.md", "a")
    world.state_dir.mkdir(mode=0o555)
    command = [*AS_OTHERS, sys.executable, "-m", "vaultmem", "--root", str(world.root)]
    command += ["--state-dir", str(world.state_dir), "recall", "alpha"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 3 and "--state-dir" in done.stderr and "Traceback" not in done.stderr


def test_an_engine_that_stays_open_follows_another_users_writer(world, asked, monkeypatch):
    """What was opened as it stood is opened anew once somebody has written."""
    from vaultmem.stores import sqlite_file

    monkeypatch.setattr(sqlite_file, "connect_reading", sqlite_file._connect_still)
    with world.engine() as engine:
        assert len(engine.notes()) == 3
        world.note("d.md", "d")
        subprocess.run(
            [sys.executable, "-c", SYNC, str(Path(world.root)), str(world.state_dir)], check=True, timeout=120
        )
        engine.parts.keeper._looked_at = float("inf")
        with engine.parts.access.reader() as caches:
            assert caches.catalog.counts().notes == 4


SYNC = """
import sys
from vaultmem.engine.engine import Engine
with Engine.open(sys.argv[1], sys.argv[2], "none") as engine:
    engine.sync()
"""


RECALL = """
import sys
from vaultmem.engine.engine import Engine
from vaultmem.testing import HashingEmbedder
with Engine.open(sys.argv[1], sys.argv[2], HashingEmbedder(size=16)) as engine:
    found = engine.recall("alpha", min_score=0.0)
    print(found.mode.value, len(found.hints))
"""


def test_vectors_answer_too(world, asked):
    asked("status")
    for path in (world.state_dir, *world.state_dir.rglob("*")):
        path.chmod(path.stat().st_mode & 0o555)
    command = [*AS_OTHERS, sys.executable, "-c", RECALL, str(world.root), str(world.state_dir)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    for path in (world.state_dir, *world.state_dir.rglob("*")):
        path.chmod(path.stat().st_mode | 0o700)
    assert done.stdout.split() == ["hybrid", "3"], done.stderr
