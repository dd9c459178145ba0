"""Hooks: the clients' events replayed, and every failure as silence.

`hook_inputs/` holds events in the clients' published forms: Claude Code 2.1 (https://code.claude.com/docs/en/hooks,
fields as of 2.1.319) and Codex 0.130 (codex-rs/hooks/schema/generated), each with the answer it must get.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from vaultmem.config import Config
from vaultmem.hooks.events import answer_hook, project_of
from vaultmem.hooks.usage import SessionLog
from vaultmem.recall.answer import Clue

INPUTS = Path(__file__).parent / "hook_inputs"
CASES = sorted(str(path.relative_to(INPUTS).with_suffix("")) for path in INPUTS.rglob("*.json"))
CLUES = (
    Clue(
        "mem_01hx_context_cache",
        0.62,
        "Context cache ordering",
        "高频变化层不能放在大块稳定上下文前面",
        "hinted",
    ),
    Clue("mem_01hx_recall_dedup", 0.41, "Passive recall dedup", "never shown", "below_threshold"),
)


class FakeAsk:
    def __init__(self) -> None:
        self.queries: list[str] = []
        self.projects: list[str | None] = []

    def __call__(
        self, query: str, *, limit: int, project: str | None, suppressed: Collection[str]
    ) -> Sequence[Clue]:
        self.queries.append(query)
        self.projects.append(project)
        return CLUES


@pytest.fixture
def config(tmp_path: Path) -> Config:
    profiles = tmp_path / "profiles"
    profiles.mkdir()
    (profiles / "agent.md").write_text("Be brief.\n")
    (profiles / "user.md").write_text("Speaks 中文.\n")
    root = tmp_path / "root"
    root.mkdir()
    return Config(root, tmp_path / "state", profiles_dir=profiles)


def nothing(query: str, **options: Any) -> Sequence[Clue]:
    return ()


def hook(client: str, config: Config, event: object, ask: Any = nothing) -> Any:
    text = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
    answer = answer_hook(config, client, text.encode("utf-8", "surrogatepass"), ask)
    return json.loads(answer) if answer else None


def log(config: Config) -> list[str]:
    path = config.state_dir / "hook.log"
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize("case", CASES)
def test_the_clients_events_get_their_answers(case: str, config: Config, tmp_path: Path) -> None:
    golden = json.loads((INPUTS / f"{case}.json").read_text())
    folder = tmp_path / "work" / "march-cli"
    (folder / ".git").mkdir(parents=True)
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text("".join(json.dumps(line) + "\n" for line in golden["transcript"] or []))
    text = json.dumps(golden["input"]).replace("{CWD}", str(folder)).replace("{TRANSCRIPT}", str(transcript))
    ask = FakeAsk()
    assert hook(case.split("/")[0], config, text, ask) == golden["output"]
    assert ask.queries == ([golden["asked"]] if golden["asked"] else [])
    assert set(ask.projects) <= {"march-cli"}
    assert log(config) == []


def test_a_session_goes_on_from_hook_to_hook(config: Config) -> None:
    (config.root / "a.md").touch()
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "q"}
    kinds = [hook("claude-code", config, event, FakeAsk()) is not None for _ in range(2)]
    assert kinds == [True, True]  # this ask does not judge; the events do
    runs = [event.run for event in SessionLog(config.root, "s1").read()]
    assert runs == sorted(runs) and set(runs) == {1, 2}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        "[" * 200_000,
        '"x"',
        "\ud800",
        '{"hook_event_name": 3}',
        '{"hook_event_name":"Stop"',
        '{"hook_event_name": "UserPromptSubmit", "session_id": {"a": 1}, "prompt": ["x"]}',
    ],
)
def test_input_that_is_no_event_is_silence(text: str, config: Config) -> None:
    assert hook("claude-code", config, text, FakeAsk()) is None


@pytest.mark.parametrize("name", ["PreToolUse", "Notification", "InventedLater", "SubagentStop"])
def test_other_events_are_silence_without_a_complaint(name: str, config: Config) -> None:
    assert hook("claude-code", config, {"hook_event_name": name, "session_id": "s"}, FakeAsk()) is None
    assert log(config) == []


def test_a_failure_is_silence_and_one_line_that_keeps_the_prompt_secret(config: Config) -> None:
    def fail(query: str, **options: Any) -> Sequence[Clue]:
        raise RuntimeError("broken\nengine")

    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "hunter2"}
    assert hook("claude-code", config, event, fail) is None
    (line,) = log(config)
    assert line.endswith("claude-code UserPromptSubmit RuntimeError: broken engine")
    assert "hunter2" not in line


def test_a_missing_transcript_is_silence(config: Config, tmp_path: Path) -> None:
    event = {
        "hook_event_name": "PostToolUse",
        "session_id": "s",
        "transcript_path": str(tmp_path / "gone.jsonl"),
    }
    assert hook("claude-code", config, event, FakeAsk()) is None
    assert len(log(config)) == 1


def test_profiles_are_made_at_the_first_session(config: Config, tmp_path: Path) -> None:
    fresh = Config(config.root, config.state_dir, profiles_dir=tmp_path / "new" / "profiles")
    start = {"hook_event_name": "SessionStart", "source": "startup"}
    assert hook("claude-code", fresh, start) is None, "an empty template only costs attention"
    user, agent = (fresh.profiles_dir / f"{name}.md" for name in ("user", "agent"))
    assert agent.read_text("utf-8").startswith("# Agent profile")
    user.write_text(user.read_text("utf-8") + "- Lives in Bern\n", encoding="utf-8")
    context = hook("claude-code", fresh, start)["hookSpecificOutput"]["additionalContext"]
    assert context.startswith("[user_profile]\n# User profile") and "[agent_profile]" not in context


def test_a_long_profile_warns_the_person(config: Config) -> None:
    (config.profiles_dir / "user.md").write_text("长" * 5000)
    answer = hook("claude-code", config, {"hook_event_name": "SessionStart", "source": "resume"})
    assert "user.md is longer" in answer["systemMessage"]
    assert len(answer["hookSpecificOutput"]["additionalContext"]) < 10_000
    answer = hook("codex", config, {"hook_event_name": "SessionStart", "source": "resume"})
    assert len(answer["hookSpecificOutput"]["additionalContext"].encode()) < 10_000


def test_the_project_is_the_repository_of_the_folder(tmp_path: Path) -> None:
    repository = tmp_path / "march-cli"
    inner = repository / "src" / "deep"
    inner.mkdir(parents=True)
    (repository / ".git").mkdir()
    assert project_of(inner) == project_of(repository) == "march-cli"
    assert project_of(tmp_path / "elsewhere") is None


def test_a_worktree_counts_as_its_main_repository(tmp_path: Path) -> None:
    (tmp_path / "feature-x").mkdir()
    (tmp_path / "feature-x" / ".git").write_text("gitdir: /src/march-cli/.git/worktrees/feature-x\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".git").write_text("gitdir: ../.git/modules/sub\n")
    assert project_of(tmp_path / "feature-x") == "march-cli"
    assert project_of(tmp_path / "sub") == "sub"
