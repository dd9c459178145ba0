"""The engine's bars, each a ratio from one run, printed as `BAR name: value (bar)`. `make bench` runs them.

They measure, so they want a quiet machine; a missed bar fails, with its figures.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.bars import VAULTMEM, bar, p50, p95, timed, write_note
from vaultmem.embedding.cores import settle_garbage_collector
from vaultmem.embedding.embedder import Embedder, open_embedder
from vaultmem.engine.engine import Engine
from vaultmem.recall.answer import Mode
from vaultmem.stores.dense import DenseStore
from vaultmem.stores.dense_rows import DenseRow, Part
from vaultmem.sync.dense import texts_of
from vaultmem.testing import HashingEmbedder, nearest

pytestmark = pytest.mark.timeout(3600)
DIMENSION = 384


def best_of(times: int, work: Callable[[], object]) -> float:
    """The quickest of several runs, in seconds: noise only ever adds."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def write_notes(root: Path, count: int, *, paragraphs: int = 2) -> None:
    for i in range(count):
        body = "\n\n".join(
            f"Paragraph {p} of memory {i}: 缓存顺序 {i * 31 % 997} and the worker token{i} retries {p} times."
            for p in range(paragraphs)
        )
        write_note(root, i, body, tag=f"t{i % 20}")


def walk(folder: str) -> int:
    """The bare walk that a light scan is compared with."""
    count, pending = 0, [folder]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count


def process_seconds(*words: str, runs: int = 7, prints: bytes) -> list[float]:
    """Wall-clock seconds of whole processes; each must succeed and print what it is run for."""
    results = [timed([VAULTMEM, *words]) for _ in range(runs)]
    assert all(prints in out for _, out in results), f"{words} did not print {prints!r}"
    return [seconds for seconds, _ in results]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault" / "March Memories"
    folder.mkdir(parents=True)
    return folder


def test_light_scan_of_10_000_unchanged_notes(root: Path, tmp_path: Path) -> None:
    write_notes(root, 10_000, paragraphs=1)
    with Engine.open(root, tmp_path / "state", "none") as engine:
        engine.sync()
        assert len(engine.parts.vault.scan().files) == 10_000 and engine.sync().unchanged == 10_000
        scan = best_of(5, engine.parts.vault.scan)
        whole = best_of(3, engine.sync)
    bare = best_of(5, lambda: walk(str(root)))
    bar("light scan of 10,000 notes / bare walk with stat", scan / bare, 3, detail=f"scan {scan:.3f} s")
    print(f"     a whole no-change sync of them: {whole:.3f} s")


def test_no_change_sync_and_start_up_as_processes(root: Path, tmp_path: Path) -> None:
    write_notes(root, 100)
    flags = ("--root", str(root), "--state-dir", str(tmp_path / "state"))
    process_seconds("sync", "--no-embed", *flags, runs=1, prints=b"100 added")
    syncs = process_seconds("sync", "--no-embed", *flags, prints=b"100 notes: nothing changed")
    helps = process_seconds("--help", prints=b"COMMAND")
    searches = process_seconds("search", "token7", *flags, prints=b"mem_7 |")
    bar("no-change sync of 100 notes, process seconds (p50)", p50(syncs), 0.5)
    bar("vaultmem --help, seconds (p50)", p50(helps), 0.3)
    bar("vaultmem search, seconds (p50)", p50(searches), 0.3)


def test_lexical_sync_of_1_000_new_notes(root: Path, tmp_path: Path) -> None:
    write_notes(root, 1_000)
    with Engine.open(root, tmp_path / "state", "none") as engine:
        started = time.perf_counter()
        report = engine.sync()
        seconds = time.perf_counter() - started
    assert report.added == report.admitted == 1_000
    bar("lexical sync of 1,000 new notes, seconds", seconds, 3)


def test_full_sync_of_300_real_notes_costs_what_the_engine_costs(tmp_path: Path) -> None:
    """Real text: the sample vault's notes, each three times with another id.

    Half of the texts are embedded bare before the sync and half after: a machine's speed drifts within a minute.
    """
    sample = Path(__file__).parents[2] / "sample_vault" / "March Memories"
    root = tmp_path / "vault" / "March Memories"
    root.mkdir(parents=True)
    texts = [p.read_text("utf-8") for p in sorted(sample.rglob("*.md")) if _is_plain(p)]
    for i in range(300):
        text = texts[i % len(texts)].replace("id: ", f"id: c{i // len(texts)}_", 1) + f"\nCopy {i}.\n"
        (root / f"{i}.md").write_text(text, encoding="utf-8")
    embedder = open_embedder("bundled")
    assert embedder is not None
    with Engine.open(root, tmp_path / "warm", embedder) as engine:  # calibration is once per model
        engine.sync(embed=False)
        engine.parts.keeper.fill(should_stop=lambda: True)
        with engine.parts.access.reader() as caches:
            pending = caches.catalog.to_embed(300)
        works = [texts_of(engine.parts.vault, row) for row in pending]
    texts = list({text.text_hash: text.text for work in works if work for text in work.texts}.values())
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "vectors.sqlite").write_bytes((tmp_path / "warm" / "vectors.sqlite").read_bytes())
    batches = [texts[i : i + 8] for i in range(0, len(texts), 8)]
    bare = _seconds_bare(embedder, batches[::2])
    with Engine.open(root, tmp_path / "state", embedder) as engine:
        started = time.perf_counter()
        report = engine.sync()
        whole = time.perf_counter() - started
    assert report.chunks_embedded == len(texts)
    bare += _seconds_bare(embedder, batches[1::2])
    bar(
        "full sync of 300 real notes / bare engine on the same chunks",
        whole / bare,
        1.1,
        detail=f"{report.chunks_embedded} chunks, {whole:.0f} s",
    )


def _seconds_bare(embedder: Embedder, batches: Sequence[Sequence[str]]) -> float:
    started = time.perf_counter()
    for batch in batches:
        embedder.passages(batch)
    return time.perf_counter() - started


def _is_plain(path: Path) -> bool:
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        return False
    return len(text) < 20_000 and text.startswith("---\nid: ") and "status: active" in text


def test_10_000_notes_with_a_fixed_delay_embedder(root: Path, tmp_path: Path) -> None:
    write_notes(root, 10_000, paragraphs=1)
    embedder = HashingEmbedder(size=DIMENSION, delay_s=0.01)
    with Engine.open(root, tmp_path / "state", embedder) as engine:
        engine.sync(embed=False)
        engine.parts.keeper.fill(should_stop=lambda: True)
        embedded = embedder.texts_embedded
        started = time.perf_counter()
        report = engine.sync()
        seconds = time.perf_counter() - started
    assert report.embeddings_pending == 0 and embedder.texts_embedded - embedded > 10_000
    delays = (embedder.texts_embedded - embedded) * embedder.delay_s
    bar(
        "embedding 10,000 notes / the sum of the embedder's delays",
        seconds / delays,
        1.1,
        detail=f"{delays:.0f} s of delays",
    )


def test_an_edited_note_is_found_while_the_worker_runs(root: Path, tmp_path: Path) -> None:
    write_notes(root, 1_000)
    state = tmp_path / "state"
    embedder = HashingEmbedder(size=DIMENSION)
    lexical, dense = [], []
    with Engine.open(root, state, embedder, hold=True, watch=True) as worker:
        _wait(lambda: worker.status().state == "idle" and worker.status().dense.pending == 0, 300)
        with Engine.open(root, state, embedder) as reader:
            for turn in range(20):
                file = root / f"2026/{turn % 12 + 1:02}/week{turn % 4 + 1}/n{turn}.md"
                text = file.read_text("utf-8") + f"\nedited{turn}xyz\n"
                started = time.perf_counter()
                file.write_text(text, encoding="utf-8")
                _wait(lambda turn=turn: _holds(reader, f"edited{turn}xyz"), 10)
                lexical.append(time.perf_counter() - started)
                _wait(lambda: _pending(reader) == 0, 10)
                dense.append(time.perf_counter() - started)
    bar("from write to found by words, worker running, seconds (p95)", p95(lexical), 0.5)
    bar("from write to its vectors, seconds (p95)", p95(dense), 1.0)


def _holds(reader: Engine, term: str) -> bool:
    with reader.parts.access.reader() as caches:
        assert caches.lexical is not None
        return bool(caches.lexical.search([term], 1))


def _pending(reader: Engine) -> int:
    with reader.parts.access.reader() as caches:
        return caches.catalog.counts().pending


def _wait(fact: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < deadline, "did not come about in time"
        time.sleep(0.005)


# --- 100,000 chunks -------------------------------------------------------------------------------------


def clustered(count: int, seed: int = 7, clusters: int = 2_000) -> np.ndarray:
    """Unit vectors in clusters, as texts on the same subjects are; (count, DIMENSION) float32."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(clusters, DIMENSION))
    points = centres[chance.integers(0, clusters, count)] + 0.7 * chance.normal(size=(count, DIMENSION))
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


class ClusteredEmbedder(HashingEmbedder):
    """Gives each text a vector from `clustered`, the same in every run: what the stores see in a large vault."""

    def __init__(self, vectors: np.ndarray) -> None:
        super().__init__(size=DIMENSION)
        self.vectors = vectors

    def _embed(self, texts):  # type: ignore[no-untyped-def]
        return np.stack([self.vectors[zlib.crc32(text.encode()) % len(self.vectors)] for text in texts])


def big_vault(root: Path, notes: int) -> None:
    """`notes` memories of ten chunks each: one of metadata, nine of the body."""
    filler = "word " * 30
    for i in range(notes):
        body = "\n\n".join(
            f"# Part {p}\n\nmemory{i} part{p} topic{(i * 7 + p) % 3000} {filler}" for p in range(9)
        )
        write_note(root, i, body, description=f"about memory {i}", folder=f"{2000 + i // 500}")


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory):
    """Two synced vaults, of 100,000 chunks and of 1,000."""
    embedder = ClusteredEmbedder(clustered(150_000))
    made = {}
    for notes in (10_000, 100):
        folder = tmp_path_factory.mktemp(f"big{notes}")
        root = folder / "March Memories"
        root.mkdir()
        big_vault(root, notes)
        with Engine.open(root, folder / "state", embedder) as engine:
            engine.sync()
            assert engine.status().dense.chunks == notes * 10
        made[notes] = (root, folder / "state")
    return embedder, made


def test_recall_in_a_warm_process_at_100_000_chunks(big) -> None:
    embedder, made = big
    root, state = made[10_000]
    with Engine.open(root, state, embedder) as engine:
        engine.recall("topic5 memory12 part3")
        settle_garbage_collector()  # as the worker does
        seconds = []
        for i in range(60):
            started = time.perf_counter()
            found = engine.recall(f"topic{i * 13 % 3000} memory{i * 97} what about part{i % 9}")
            seconds.append(time.perf_counter() - started)
            assert found.mode is Mode.HYBRID and f"mem_{i * 97}" in {each.id for each in found.candidates}
    bar(
        "recall at 100,000 chunks beyond the query's embedding, ms (p50)",
        1_000 * p50(seconds),
        20,
        detail=f"p95 {1_000 * p95(seconds):.0f} ms",
    )


def test_the_vector_index_finds_the_exact_top_50(big) -> None:
    embedder, made = big
    root, state = made[10_000]
    with Engine.open(root, state, embedder) as engine, engine.parts.access.reader() as caches:
        assert caches.dense is not None
        rows = caches.dense.rows(list(range(1, 10_001)))
        matrix = np.stack([row.vector for row in rows])
        chance, shares, seconds = np.random.default_rng(3), [], []
        for query in matrix[chance.integers(0, len(matrix), 50)] + 0.03 * chance.normal(size=(50, DIMENSION)):
            exact = np.sort(matrix @ (query / np.linalg.norm(query)))[-50:]
            started = time.perf_counter()
            found = nearest(caches.dense, query.astype(np.float32), 50)
            seconds.append(time.perf_counter() - started)
            shares.append(sum(cosine >= exact[0] - 1e-5 for _, cosine in found) / 50)
    bar(
        "share of the exact top 50 that the index finds",
        float(np.mean(shares)),
        0.98,
        at_least=True,
        detail=f"{1_000 * statistics.median(seconds):.1f} ms",
    )


def test_a_one_note_sync_does_not_grow_with_the_vault(big) -> None:
    embedder, made = big
    seconds = {}
    for notes, (root, state) in made.items():
        file = next(root.rglob("n7.md"))
        with Engine.open(root, state, embedder, hold=True) as engine:
            engine.sync(paths=["none"])
            turns = []
            for turn in range(9):
                file.write_text(file.read_text("utf-8") + f"\nturn {turn}\n", encoding="utf-8")
                started = time.perf_counter()
                report = engine.sync(paths=[file.relative_to(root).as_posix()])
                turns.append(time.perf_counter() - started)
                assert report.updated == 1 and report.chunks_embedded > 0
        seconds[notes] = p50(turns)
    bar(
        "one-note sync at 100,000 chunks / at 1,000",
        seconds[10_000] / seconds[100],
        2,
        detail=f"{1_000 * seconds[10_000]:.0f} ms and {1_000 * seconds[100]:.0f} ms",
    )


# --- disk and memory ------------------------------------------------------------------------------------


def test_disk_use_after_2_000_one_note_updates(tmp_path: Path) -> None:
    """Real rows in a real store, updated one note at a time as the worker does."""
    vectors = clustered(4_000)

    def rows(note: int, turn: int) -> list[DenseRow]:
        return [
            DenseRow(
                note,
                f"{turn:032x}",
                Part.BODY,
                p,
                "",
                p,
                p,
                "text " * 80,
                f"{note:016x}{p:016x}",
                "en",
                vectors[(note * 4 + p + turn) % len(vectors)],
            )
            for p in range(4)
        ]

    lived = DenseStore(tmp_path / "lived", DIMENSION, writable=True)
    lived.add([row for note in range(1_000) for row in rows(note, 0)])
    for turn in range(1, 2_001):
        note = turn % 1_000
        lived.add(rows(note, turn))
        lived.delete([(note, f"{turn - 1_000 if turn > 1_000 else 0:032x}")])
        if turn % 200 == 0:
            lived.maintain()
    lived.maintain(force=True)
    fresh = DenseStore(tmp_path / "fresh", DIMENSION, writable=True)
    fresh.add(lived.rows(range(1_000)))
    bar("dense store after 2,000 updates / a fresh one", lived.size_bytes() / fresh.size_bytes(), 3)


def test_memory_of_the_worker_at_10_000_notes(root: Path, tmp_path: Path) -> None:
    write_notes(root, 10_000, paragraphs=1)
    code = (
        "import sys, time\n"
        "from vaultmem.engine.engine import Engine\n"
        "with Engine.open(sys.argv[1], sys.argv[2], 'bundled', hold=True, watch=True) as engine:\n"
        "    while engine.status().notes < 10_000: time.sleep(0.2)\n"
        "    for i in range(5): engine.recall(f'memory {i} worker retries')\n"
        "    end = time.time() + 60\n"
        "    while time.time() < end: time.sleep(1)\n"
        "    assert engine.status().dense.chunks > 100, 'it does not embed'\n"
        # The system's ru_maxrss would count what this process had when it forked.
        "    print(int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) / 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(root), str(tmp_path / "state")],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-500:]
    bar("worker's memory at 10,000 notes while it embeds, MB", float(done.stdout.split()[-1]), 400)


def test_threads_do_not_starve_the_machine() -> None:
    """em-threads: while it embeds, the engine uses at most the documented number of threads' worth of CPU."""
    from vaultmem.embedding.cores import default_threads

    embedder = open_embedder("bundled")
    assert embedder is not None
    texts = [f"a paragraph about subject {i} " * 12 for i in range(24)]
    embedder.passages(texts[:2])
    cpu, wall = time.process_time(), time.perf_counter()
    embedder.passages(texts)
    used = (time.process_time() - cpu) / (time.perf_counter() - wall)
    bar("processors used while embedding / threads allowed", used / default_threads(), 1.1)
    print(json.dumps({"threads": default_threads()}))
