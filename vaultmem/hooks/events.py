"""A client's event, read, and its answer in the client's form; silence whenever anything is wrong.

Claude Code and Codex send the same events in the same form (`docs/agents.md` names the versions): snake_case
JSON in; `hookSpecificOutput.additionalContext` for the agent and `systemMessage` for the person out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultmem.clients import Client
from vaultmem.errors import UsageError
from vaultmem.hooks.failures import log_failure
from vaultmem.regular_file import read_whole

if TYPE_CHECKING:
    from vaultmem.config import Config
    from vaultmem.hooks.session import Given
    from vaultmem.recall.answer import Ask

MARK_LIMIT_BYTES = 1 << 16
"""Of the file that stands for `.git` in a worktree: one line with a path."""
TOOL_EVENTS = ("PostToolUse", "PostToolUseFailure", "PostToolBatch")


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One event of a client, in the fields that matter here."""

    client: Client
    name: str
    session: str
    cwd: Path | None = None
    transcript: Path | None = None
    prompt: str = ""
    last_words: str | None = None
    """What the assistant said last, where the client tells it."""
    is_subagent: bool = False


def read_hook_event(client: str, text: bytes | str) -> HookEvent:
    """The event that a client wrote.

    Raises:
        UsageError: it is not one, or the client is not known.
    """
    if client not in set(Client):
        raise UsageError(f"there is no hook for {client!r}; there are: {', '.join(Client)}")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError("the hook's input is not JSON") from None
    if not isinstance(data, dict) or not isinstance(data.get("hook_event_name"), str):
        raise UsageError("the hook's input has no hook_event_name")
    return HookEvent(
        client=Client(client),
        name=data["hook_event_name"],
        session=_text(data, "session_id"),
        cwd=_path(data, "cwd"),
        transcript=_path(data, "transcript_path"),
        prompt=_text(data, "prompt"),
        last_words=_text(data, "last_assistant_message") or None,
        is_subagent=bool(data.get("agent_id")),
    )


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _path(data: dict[str, Any], key: str) -> Path | None:
    text = _text(data, key)
    return Path(text).expanduser() if text and "\0" not in text else None


# --- answering


def answer_hook(config: Config, client: str, text: bytes | str, ask: Ask) -> str:
    """What a hook prints for the event that a client wrote: a line of JSON, or nothing. Never raises."""
    name = "?"
    try:
        event = read_hook_event(client, text)
        name = event.name
        answer = answer_event(event, config, ask)
        return json.dumps(answer, ensure_ascii=False) + "\n" if answer else ""
    except Exception as error:  # a hook must never break a prompt
        log_failure(config.state_dir, client, name, error)
        return ""


def answer_event(event: HookEvent, config: Config, ask: Ask) -> dict[str, Any]:
    """What the client is told; empty for nothing. Raises whatever goes wrong."""
    if event.name == "SessionStart":
        return _profiles(event, config)
    if event.is_subagent or not event.session:
        return {}  # a subagent's words are not in this transcript, and it got its task from the agent
    if event.name == "UserPromptSubmit":
        return _output(event, _session(event, config).on_user_message(_message(event, event.prompt), ask))
    if event.name in TOOL_EVENTS and (words := _last_words(event)):
        return _output(event, _session(event, config).on_assistant_turn(_message(event, words), ask))
    if event.name == "Stop" and (words := event.last_words or _last_words(event)):
        _session(event, config).on_final_turn(_message(event, words), ask)
    return {}


def _output(event: HookEvent, given: Given) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    if given.context:
        answer["hookSpecificOutput"] = {"hookEventName": event.name, "additionalContext": given.context}
    if given.shown:
        answer["systemMessage"] = given.shown
    return answer


def _profiles(event: HookEvent, config: Config) -> dict[str, Any]:
    from vaultmem.hooks.profiles import characters, profiles_block, read_profiles, utf8_bytes
    from vaultmem.hooks.session import Given

    measure = utf8_bytes if event.client is Client.CODEX else characters
    profiles = read_profiles(config.profiles_dir, measure)
    warnings = "; ".join(profile.warning for profile in profiles if profile.warning)
    return _output(event, Given(profiles_block(profiles), f"vaultmem: {warnings}" if warnings else ""))


def _session(event: HookEvent, config: Config) -> Any:
    from vaultmem.hooks.session import Rules, Session

    rules = Rules(
        config.hint_limit, config.suppression_runs, config.hint_budget_chars, config.description_width
    )
    return Session(config.root, config.state_dir, event.session, rules)


def _message(event: HookEvent, text: str) -> Any:
    from vaultmem.hooks.session import Message

    return Message(text, event.client, project_of(event.cwd) if event.cwd else None)


def _last_words(event: HookEvent) -> str | None:
    from vaultmem.hooks.transcripts import last_assistant_text

    return last_assistant_text(event.transcript) if event.transcript else None


def project_of(folder: Path) -> str | None:
    """The name of the repository that `folder` lies in; a linked worktree counts as its main repository."""
    for place in (folder, *folder.parents):
        mark = place / ".git"
        if mark.is_dir():
            return place.name or None
        if mark.is_file():
            return _main_repository(mark) or place.name or None
    return None


def _main_repository(mark: Path) -> str | None:
    """`.git` of a worktree is a file: `gitdir: /path/to/main/.git/worktrees/name`."""
    try:
        text = read_whole(mark, MARK_LIMIT_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    parts = Path(text.removeprefix("gitdir:").strip()).parts
    if "worktrees" in parts and parts[parts.index("worktrees") - 1] == ".git":
        return parts[parts.index("worktrees") - 2]
    return None
