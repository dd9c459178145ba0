"""Prompts at once: everything for one that gets a turn, words for one that would wait too long."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.worker import served
from vaultmem.config import Config
from vaultmem.errors import EngineError
from vaultmem.hooks import budget
from vaultmem.hooks.turns import Turns
from vaultmem.hooks.usage import SessionLog
from vaultmem.recall.answer import Mode, Recall
from vaultmem.worker.client import WorkerClient


class FakeEngine:
    def __init__(self, mode: Mode, config: Config | None = None) -> None:
        self.config = config or Config(Path("/r"), Path("/s"))
        self.mode = mode
        self.entered, self.free = threading.Event(), threading.Event()
        self.free.set()
        self.is_closed = False

    def recall(self, query: str, **options: Any) -> Recall:
        self.entered.set()
        self.free.wait(10)
        return Recall(query, mode=self.mode)

    def close(self) -> None:
        self.is_closed = True


ASKED: dict[str, Any] = {"limit": 3, "project": None, "suppressed": (), "time_limit_s": 10.0}


def test_a_prompt_alone_gets_everything() -> None:
    assert Turns(FakeEngine(Mode.HYBRID)).recall("q", **ASKED).mode is Mode.HYBRID  # type: ignore[arg-type]


def test_a_prompt_that_waits_too_long_is_answered_by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "TURN_S", 0.01)
    warm, words = FakeEngine(Mode.HYBRID), FakeEngine(Mode.LEXICAL)
    opened: list[Config] = []

    def open_words(config: Config) -> FakeEngine:
        opened.append(config)
        return words

    turns = Turns(warm, open_words)  # type: ignore[arg-type]
    warm.free.clear()
    slow = SimpleNamespace(found=None)
    first = threading.Thread(target=lambda: setattr(slow, "found", turns.recall("slow", **ASKED)))
    first.start()
    assert warm.entered.wait(5)
    assert [turns.recall("q", **ASKED).mode for _ in range(2)] == [Mode.LEXICAL, Mode.LEXICAL]
    warm.free.set()
    first.join()
    assert slow.found.mode is Mode.HYBRID and opened == [warm.config]
    turns.close()
    assert words.is_closed and not warm.is_closed


def test_an_answer_that_nobody_waits_for_is_an_error_and_the_turn_goes_on() -> None:
    turns = Turns(FakeEngine(Mode.HYBRID))  # type: ignore[arg-type]
    with pytest.raises(EngineError, match="too late"):
        turns.recall("q", **{**ASKED, "time_limit_s": -1.0})
    assert turns.recall("q", **ASKED).mode is Mode.HYBRID


@pytest.fixture
def engine(tmp_path: Path, runtime_dir: Path) -> served.FakeEngine:
    return served.FakeEngine(tmp_path / "root", tmp_path / "state")


@pytest.fixture
def client(engine: served.FakeEngine) -> Iterator[WorkerClient]:
    with served.serving(engine, Turns(engine).answer_hook):  # type: ignore[arg-type]
        found = WorkerClient.connect(engine.config)
        assert found is not None
        yield found


def test_a_hook_is_answered_whole_by_the_worker(client: WorkerClient, engine: served.FakeEngine) -> None:
    engine.config.root.mkdir()
    (engine.config.root / "a.md").touch()
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "q"}
    answer = json.loads(client.call("hook", {"client": "claude-code", "text": json.dumps(event)}))
    assert "- mem_1 | score=0.61 | 名 A | desc" in answer["hookSpecificOutput"]["additionalContext"]
    assert client.call("hook", {"client": "claude-code", "text": "junk"}) == ""


def test_a_hook_that_nobody_waits_for_any_more_records_no_hint(
    client: WorkerClient, engine: served.FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "WORKER_S", -1.0)
    engine.config.root.mkdir()
    (engine.config.root / "a.md").touch()
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "q"}
    assert client.call("hook", {"client": "claude-code", "text": json.dumps(event)}) == ""
    assert [each.kind.value for each in SessionLog(engine.config.root, "s").read()] == ["run_started"]
