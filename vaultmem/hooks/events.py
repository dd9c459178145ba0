"""`vaultmem hook CLIENT`: one hook event on stdin, its answer on stdout, silence whenever anything is wrong.

Claude Code and Codex send the same events in the same form (`docs/agents.md` names the versions): snake_case
JSON in; `hookSpecificOutput.additionalContext` for the agent and `systemMessage` for the person out. The
process exits 0 within BUDGET_S whatever happens, and a failure is one line in `hook.log` of the state dir.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultmem.errors import EngineError, UsageError, VaultmemError
from vaultmem.hooks.entry import BUDGET_S, CLIENTS
from vaultmem.text.shown import harmless

if TYPE_CHECKING:
    from vaultmem.config import Config
    from vaultmem.hooks.session import Given
    from vaultmem.recall.answer import Ask, Clue

CLUES_TIMEOUT_S = 0.7
"""For a worker to name candidates. Less than the worker's HOOK_TIMEOUT_S: before it this way loads the settings,
and after it the hints are still to be recorded."""
LOG_LIMIT_BYTES = 256 << 10

TOOL_EVENTS = ("PostToolUse", "PostToolUseFailure", "PostToolBatch")


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One event of a client, in the fields that matter here."""

    client: str
    name: str
    session: str
    cwd: Path | None = None
    transcript: Path | None = None
    prompt: str = ""
    last_words: str | None = None
    """What the assistant said last, where the client tells it."""
    is_subagent: bool = False


def read_event(client: str, text: bytes | str) -> HookEvent:
    """The event that a client wrote.

    Raises:
        UsageError: it is not one.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError("the hook's input is not JSON") from None
    if not isinstance(data, dict) or not isinstance(data.get("hook_event_name"), str):
        raise UsageError("the hook's input has no hook_event_name")
    return HookEvent(
        client=client,
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


# --- answering ------------------------------------------------------------------------------------------


def answer_hook(config: Config, client: str, text: bytes | str, ask: Ask | None = None) -> str:
    """What a hook prints for the event that a client wrote: a line of JSON, or nothing. Never raises.

    `ask` finds the candidates: the worker gives its own engine; else a worker is looked for, and without one words
    alone have to do.
    """
    name = "?"
    try:
        event = read_event(client, text)
        name = event.name
        answer = answer_event(event, config, ask or _asker(config))
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

    measure = utf8_bytes if event.client == "codex" else characters
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
        target = mark.read_text(encoding="utf-8", errors="replace").removeprefix("gitdir:").strip()
    except OSError:
        return None
    parts = Path(target).parts
    if "worktrees" in parts and parts[parts.index("worktrees") - 1] == ".git":
        return parts[parts.index("worktrees") - 2]
    return None


# --- asking ---------------------------------------------------------------------------------------------


def _asker(config: Config) -> Ask:
    """Ask the worker; without one, words alone have to do: a model is not loaded within a hook's budget."""

    def ask(query: str, *, limit: int, project: str | None, suppressed: Collection[str]) -> Sequence[Clue]:
        from vaultmem.worker.client import WorkerClient

        options = {
            "limit": limit,
            "min_score": config.min_score,
            "project": project,
            "suppressed": sorted(suppressed),
        }
        client = WorkerClient.connect(config)
        if client is not None:
            try:
                return client.clues(query, timeout_s=CLUES_TIMEOUT_S, **options)
            except TimeoutError:
                raise EngineError("the worker did not answer in time") from None
            except OSError:
                pass  # it died this instant
        return _lexical_clues(config, query, options)

    return ask


def _lexical_clues(config: Config, query: str, options: dict[str, Any]) -> Sequence[Clue]:
    from dataclasses import replace

    from vaultmem.config import EngineChoice
    from vaultmem.engine.engine import Engine
    from vaultmem.recall.answer import clues

    with Engine.open(config=replace(config, engine=EngineChoice.NONE)) as engine:
        return clues(engine.recall(query, **options).candidates)


# --- the process ----------------------------------------------------------------------------------------


class Deadline:
    """Ends the process, with 0 and silence, when it takes too long; never in the middle of an answer."""

    def __init__(self, seconds: float, on_expiry: Callable[[], None]) -> None:
        self._gate = threading.Lock()
        self._on_expiry = on_expiry
        self._timer = threading.Timer(seconds, self._expire)
        self._timer.daemon = True
        self._timer.start()

    def close(self) -> bool:
        """The work is done, and what follows is not cut off any more; False when it is too late."""
        self._timer.cancel()
        return self._gate.acquire(blocking=False)

    def _expire(self) -> None:
        if self._gate.acquire(blocking=False):
            try:
                self._on_expiry()
            finally:
                os._exit(0)


def hook_process(client: str, named: Mapping[str, str], data: bytes, budget_s: float = BUDGET_S) -> bytes:
    """The long way of `vaultmem hook CLIENT`: what to print; nothing also when the settings are wrong.

    `named` are the flags `--root` and `--state-dir`; `data` is what came on stdin. Ends the process when it takes
    longer than `budget_s`. From now on nobody in this process writes to the client's stdout.
    """
    _silence_stdout()
    state: dict[str, Path] = {}

    def too_slow() -> None:
        log_failure(state.get("dir"), client, "?", EngineError(f"no answer within {BUDGET_S} s"))

    deadline = Deadline(budget_s, too_slow)
    answer = ""
    try:
        if client not in CLIENTS:
            raise UsageError(f"there is no hook for {client!r}; there are: {', '.join(CLIENTS)}")
        from vaultmem.config import Config

        config = Config.load(root=named.get("--root"), state_dir=named.get("--state-dir"))
        state["dir"] = config.state_dir
        answer = answer_hook(config, client, data)
    except Exception as error:
        log_failure(state.get("dir"), client, "?", error)
    return answer.encode("utf-8", "replace") if deadline.close() else b""


def _silence_stdout() -> None:
    """What libraries and their children print has no place in an answer."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def log_failure(state_dir: Path | None, client: str, event: str, error: Exception) -> None:
    """One line in `hook.log`, which is kept short. Never raises; a prompt's text is never in it."""
    try:
        folder = state_dir or _fallback_folder()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / "hook.log"
        if path.exists() and path.stat().st_size > LOG_LIMIT_BYTES:
            path.replace(path.with_suffix(".log.1"))
        kind = "" if isinstance(error, VaultmemError) else f"{type(error).__name__}: "
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = f"{at} {harmless(client)} {harmless(event)} {kind}{harmless(str(error))[:300]}\n"
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line.encode("utf-8", "replace"))
        finally:
            os.close(descriptor)
    except OSError:
        return


def _fallback_folder() -> Path:
    """Where to log when the settings themselves are the trouble."""
    from platformdirs import user_state_path

    return user_state_path("vaultmem")
