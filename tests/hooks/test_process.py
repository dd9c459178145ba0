"""The long way of a hook: an answer in time, or silence, whatever hangs, prints or is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.worker.served import FakeEngine, serving
from tests.worlds import note_text
from vaultmem.config import Config, EngineChoice
from vaultmem.errors import EngineError
from vaultmem.hooks import budget
from vaultmem.hooks.process import Deadline, worker_or_words

LONG_WAY = Path(__file__).parent / "programs" / "long_way.py"


PROMPT = json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "q"})


def process(tmp_path: Path, kind: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(LONG_WAY), str(tmp_path), kind]
    return subprocess.run(words, input=PROMPT, capture_output=True, text=True, timeout=30, check=False)


def test_a_hook_that_hangs_ends_in_time_with_nothing_said(tmp_path: Path) -> None:
    done = process(tmp_path, "hangs")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "no answer within" in (tmp_path / "hook.log").read_text()


def test_even_a_library_that_holds_every_thread_ends_in_time(tmp_path: Path) -> None:
    started = time.monotonic()
    done = process(tmp_path, "holds every thread")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert time.monotonic() - started < 10


def test_what_libraries_print_does_not_reach_the_client(tmp_path: Path) -> None:
    done = process(tmp_path, "is noisy")
    assert (done.returncode, done.stdout) == (0, '{"systemMessage": "said"}\n')


def test_settings_that_are_wrong_are_silence(tmp_path: Path) -> None:
    done = process(tmp_path, "has wrong settings")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "there is no setting" in (tmp_path / "hook.log").read_text()


def test_an_unknown_client_is_silence(tmp_path: Path) -> None:
    done = process(tmp_path, "is asked by an unknown client")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "there is no hook for 'x'; there are: claude-code, codex" in (tmp_path / "hook.log").read_text()


def test_an_answer_is_never_cut_off_by_the_deadline(tmp_path: Path) -> None:
    deadline = Deadline(30, lambda: None)
    assert deadline.close()
    deadline._expire()  # would end this process
    assert os.getpid()


ASKED = {"limit": 3, "project": None, "suppressed": ()}


def test_a_worker_that_is_there_names_the_candidates(tmp_path: Path, runtime_dir: Path) -> None:
    engine = FakeEngine(tmp_path / "root", tmp_path / "state")
    with serving(engine):
        clues = worker_or_words(engine.config)("q", **{**ASKED, "suppressed": {"b", "a"}})
    assert [(clue.id, clue.verdict) for clue in clues] == [("mem_1", "hinted"), ("mem_2", "below_threshold")]
    assert engine.calls == [
        ("q", {"limit": 3, "min_score": 0.5, "project": None, "suppressed": ["a", "b"]})
    ], "the threshold is that of this process's settings"


def test_a_worker_that_is_too_slow_is_not_done_without(
    tmp_path: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It works on the same event, and words alone would take the rest of the second."""
    monkeypatch.setattr(budget, "CLUES_S", 0.05)
    engine = FakeEngine(tmp_path / "root", tmp_path / "state")
    engine.hold.clear()
    with serving(engine), pytest.raises(EngineError, match="did not answer in time"):
        worker_or_words(engine.config)("q", **ASKED)
    engine.hold.set()


def test_without_a_worker_words_alone_have_to_do(tmp_path: Path, runtime_dir: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.md").write_text(note_text("a", "alpha beta\n"))
    config = Config(root, tmp_path / "state", engine=EngineChoice.AUTO, min_score=0.0)
    (clue,) = worker_or_words(config)("alpha beta", **ASKED)
    assert (clue.id, clue.verdict) == ("a", "hinted")
