"""The agent's bars: what a prompt waits for, and how soon the MCP server answers. `make bench` runs them.

Whole processes are timed, from their start to their end, so a busy machine misses every one of these bars; the
detail beside a figure names what a bare `python -c pass` costs at the same moment.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.benchmarks.bars import VAULTMEM, bar, p50, p95, timed, write_note
from vaultmem.config import Config, default_state_dir
from vaultmem.worker.client import WorkerClient

pytestmark = pytest.mark.timeout(3600)
MEMORIES = 1000
RUNS = 40
WORDS = (
    *("cache", "ordering", "retry", "timeout", "socket", "index", "vector", "prompt", "branch", "deploy"),
    *("schema", "token", "缓存", "顺序", "超时", "索引"),
)


def pair(number: int) -> tuple[str, str]:
    """The two words that note and prompt of a number are made of."""
    return WORDS[number % len(WORDS)], WORDS[number * 7 % len(WORDS)]


def write_notes(root: Path, count: int) -> None:
    for number in range(count):
        one, two = pair(number)
        about = f"how {one} and {two} met in case {number}"
        body = f"The {one} of case{number} was {two}."
        write_note(root, number, body, name=f"{one} {two} {number}", description=about, tag=one)


def has_hints(answer: bytes) -> bool:
    return b"- mem_" in answer


def bare_python_s(environ: dict[str, str]) -> float:
    return p50([timed([sys.executable, "-c", "pass"], b"", environ)[0] for _ in range(10)])


def event(session: str, number: int) -> bytes:
    one, two = pair(number)
    prompt = f"how did {one} and {two} meet in case {number}"
    data = {"hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": "/", "prompt": prompt}
    return json.dumps(data).encode()


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("home")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("VAULTMEM", "MARCH"))}
    return {**kept, "HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "OMP_WAIT_POLICY": "passive"}


@pytest.fixture(scope="module")
def root(environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,000 memories, embedded with the bundled model."""
    root = tmp_path_factory.mktemp("vault") / "March Memories"
    write_notes(root, MEMORIES)
    timed([VAULTMEM, "sync", "--root", str(root)], b"", environ)
    return root


@pytest.fixture
def worker(root: Path, environ: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen(
        [VAULTMEM, "watch", "--root", str(root)], env=environ, stderr=subprocess.DEVNULL
    )
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_STATE_HOME", environ["XDG_STATE_HOME"])
            config = Config(root, default_state_dir(root))
        deadline = time.monotonic() + 60
        while (client := WorkerClient.connect(config)) is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert client is not None
        client.recall("warm up")
        yield
    finally:
        process.terminate()
        code = process.wait(30)
    assert code == 0, f"the worker ended with {code}"


def test_hook_round_trip_with_a_worker(root: Path, environ: dict[str, str], worker: None) -> None:
    words = [VAULTMEM, "hook", "claude-code", "--root", str(root)]
    runs = [timed(words, event(f"s{number}", number), environ) for number in range(RUNS)]
    seconds = [each for each, _ in runs]
    assert sum(has_hints(out) for _, out in runs) == RUNS
    detail = f"(bare python {bare_python_s(environ):.3f})"
    bar("hook round trip p50, s", p50(seconds), 0.15, detail)
    bar("hook round trip p95, s", p95(seconds), 0.25, detail)


def test_warm_recall(root: Path, environ: dict[str, str], worker: None) -> None:
    words = [VAULTMEM, "recall", "--root", str(root), "how did cache and retry meet"]
    runs = [timed(words, b"", environ) for _ in range(15)]
    assert all(has_hints(out) for _, out in runs)
    seconds = p50([each for each, _ in runs])
    bar("recall beside a worker p50, s", seconds, 0.2, f"(bare python {bare_python_s(environ):.3f})")


def test_twenty_hooks_at_once(root: Path, environ: dict[str, str], worker: None) -> None:
    words = [VAULTMEM, "hook", "claude-code", "--root", str(root)]
    answers: queue.Queue[tuple[float, bytes]] = queue.Queue()
    threads = [
        threading.Thread(target=lambda n=n: answers.put(timed(words, event(f"at-once-{n}", n), environ)))  # type: ignore[misc]
        for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results = [answers.get() for _ in threads]
    bar("20 hooks at once, unanswered", sum(not has_hints(out) for _, out in results), 0)
    bar("20 hooks at once, slowest, s", max(seconds for seconds, _ in results), 1.0)


def test_a_hook_without_a_worker(root: Path, environ: dict[str, str]) -> None:
    words = [VAULTMEM, "hook", "claude-code", "--root", str(root)]
    runs = [timed(words, event(f"alone-{number}", number), environ) for number in range(10)]
    answered = sum(has_hints(out) for _, out in runs)
    detail = f"({answered}/10 with hints)"
    bar("hook without a worker, slowest, s", max(each for each, _ in runs), 1.0, detail)
    assert answered > 0, "silence is allowed to a hook that is out of time, but not always"


def test_mcp_answers_initialize_on_a_large_cold_vault(environ: dict[str, str], tmp_path: Path) -> None:
    write_notes(tmp_path / "root", 10_000)
    info = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "0"},
    }
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info}).encode() + b"\n"
    words = [VAULTMEM, "mcp", "--root", str(tmp_path / "root"), "--state-dir", str(tmp_path / "state")]
    answers, ends = [], []
    for _ in range(5):
        started = time.perf_counter()
        process = subprocess.Popen(words, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin and process.stdout
        process.stdin.write(message)
        process.stdin.flush()
        assert b'"serverInfo"' in process.stdout.readline()
        answers.append(time.perf_counter() - started)
        ended = time.perf_counter()
        process.stdin.close()
        assert process.wait(10) == 0
        process.stdout.close()
        ends.append(time.perf_counter() - ended)
    sdk = [sys.executable, "-c", "import mcp.server.mcpserver"]
    alone = p50([timed(sdk, b"", environ)[0] for _ in range(5)])
    detail = f"(importing the SDK alone takes {alone:.3f})"
    bar("mcp initialize, 10,000 notes, no caches, s", p50(answers), 1.5, detail)
    bar("mcp exit after end of input, slowest, s", max(ends), 2.0)


def test_mcp_opens_a_memory_before_anything_is_indexed(environ: dict[str, str], tmp_path: Path) -> None:
    from vaultmem.worker.nearest import Nearest

    write_notes(tmp_path / "root", 10_000)
    nearest = Nearest(Config(tmp_path / "root", tmp_path / "state"))
    started = time.perf_counter()
    assert nearest.open_memory("mem_9999").id == "mem_9999"
    bar("open in a vault of 10,000 without caches, s", time.perf_counter() - started, 2.0)
    nearest.close()
