"""The assistant's last words, from transcripts in the clients' forms."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmem.hooks.transcripts import last_assistant_text, lines_from_end

BIG = "X" * 3_000_000


def claude(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    message = {"role": role, "content": content}
    return {
        "parentUuid": None,
        "type": role,
        "message": message,
        "sessionId": "s",
        "version": "2.1.185",
        **fields,
    }


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


TOOL_USE = claude("assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}])
TOOL_RESULT = claude("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "SECRET OUTPUT"}])


def codex(payload: dict[str, Any], kind: str = "response_item") -> dict[str, Any]:
    return {"timestamp": "2026-10-29T00:59:38.317Z", "type": kind, "payload": payload}


def codex_said(words: str) -> dict[str, Any]:
    return codex(
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words}]}
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "transcript.jsonl"


def write(path: Path, *entries: dict[str, Any]) -> None:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")


def test_the_words_before_the_tool_call_are_found(path: Path) -> None:
    write(
        path, claude("user", "fix it"), claude("assistant", [text("Looking at auth.")]), TOOL_USE, TOOL_RESULT
    )
    assert last_assistant_text(path) == "Looking at auth."


def test_a_turn_that_only_calls_tools_falls_back_to_the_runs_last_words(path: Path) -> None:
    said = claude("assistant", [text("First look.")])
    write(path, claude("user", [text("fix it")]), said, TOOL_USE, TOOL_RESULT, TOOL_USE, TOOL_RESULT)
    assert last_assistant_text(path) == "First look."


def test_words_of_an_earlier_run_are_not_taken(path: Path) -> None:
    write(path, claude("assistant", [text("old")]), claude("user", "next"), TOOL_USE, TOOL_RESULT)
    assert last_assistant_text(path) is None


def test_thinking_subagents_errors_and_meta_are_not_its_words(path: Path) -> None:
    write(
        path,
        claude("assistant", [text("mine")]),
        claude("assistant", [{"type": "thinking", "thinking": "hm"}]),
        claude("assistant", [text("sub")], isSidechain=True),
        claude("assistant", [text("API Error")], isApiErrorMessage=True),
        claude("user", "injected", isMeta=True),
        TOOL_RESULT,
    )
    assert last_assistant_text(path) == "mine"


def test_huge_tool_results_are_stepped_over(path: Path) -> None:
    result = claude("user", [{"type": "tool_result", "tool_use_id": "t1", "content": BIG}])
    write(path, claude("user", "q"), claude("assistant", [text("mine")]), TOOL_USE, result, result)
    started = time.process_time()  # work, not waiting for a turn: other processes may keep the cores busy
    assert last_assistant_text(path) == "mine"
    assert time.process_time() - started < 1


def test_codex_rollouts_are_read(path: Path) -> None:
    write(
        path,
        codex({"id": "s"}, "session_meta"),
        codex({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<env>"}]}),
        codex({"type": "user_message", "message": "fix it"}, "event_msg"),
        codex_said("I look at the 认证 code."),
        codex({"type": "function_call", "name": "shell", "arguments": "{}"}),
        codex({"type": "function_call_output", "output": 'says "assistant"'}),
    )
    assert last_assistant_text(path) == "I look at the 认证 code."


def test_codex_words_of_an_earlier_run_are_not_taken(path: Path) -> None:
    user = codex({"type": "user_message", "message": "next"}, "event_msg")
    write(path, codex_said("old"), user, codex({"type": "function_call", "name": "shell"}))
    assert last_assistant_text(path) is None


def test_a_line_that_is_being_written_is_skipped(path: Path) -> None:
    write(path, claude("user", "q"), claude("assistant", [text("mine")]))
    with path.open("ab") as file:
        file.write(b'{"type":"assistant","message":{"role":"assistant","content":[{"type":"te')
    assert last_assistant_text(path) == "mine"


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_read_without_an_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("t") / "t.jsonl"
    path.write_bytes(data.replace(b"x", b'{"type":"assistant","message":['))
    last_assistant_text(path)


@settings(deadline=None)
@given(st.lists(st.binary(max_size=300).filter(lambda line: line.strip() and b"\n" not in line), max_size=8))
def test_lines_come_last_first(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("t") / "t.jsonl"
    path.write_bytes(b"\n".join(lines))
    assert list(lines_from_end(path)) == lines[::-1]


def test_lines_longer_than_a_block_arrive_whole(path: Path) -> None:
    lines = [b"a" * 200_000, b"b" * 70_000, b"c"]
    path.write_bytes(b"\n".join(lines) + b"\n")
    assert list(lines_from_end(path)) == lines[::-1]


def test_only_the_end_of_an_endless_transcript_is_read(path: Path) -> None:
    with path.open("wb") as file:
        for _ in range(12):
            file.write(b'{"type":"user","message":{"role":"user","content":[]}}' + b" " * (1 << 20) + b"\n")
    assert last_assistant_text(path) is None


def test_a_pipe_in_the_place_of_a_transcript_is_an_error_and_nobody_waits(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe"):
        last_assistant_text(tmp_path / "pipe")
