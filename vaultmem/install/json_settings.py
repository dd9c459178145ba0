"""Our hooks and our MCP server in a client's JSON: Claude Code's two files, and Codex's hooks.json. Pure.

A text is edited in place and proven: parsed, it must equal the same edit made on the parsed value.
"""

from __future__ import annotations

import copy
import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vaultmem.install.invocation import (
    CLIENT_TIMEOUT_S,
    HOOK_EVENTS,
    SERVER_NAME,
    command_words,
    is_own_command,
    split_command,
)
from vaultmem.install.json_edits import added, removed

if TYPE_CHECKING:
    from vaultmem.clients import Client
    from vaultmem.config import Config


@dataclass(frozen=True, slots=True)
class Hook:
    """The hook command in a client's settings. `command` is None to take it out."""

    client: Client
    command: str | None


def hook_of(client: Client, config: Config, remove: bool) -> Hook:
    return Hook(client, None if remove else shlex.join(command_words(config, "hook", client)))


def with_hooks(text: str | None, hook: Hook) -> str | None:
    """The settings with our hook on HOOK_EVENTS, or without it. Raises ValueError, KeyError, TypeError."""
    if text is None and hook.command is None:
        return None
    after = text if text and text.strip() else "{}\n"
    wanted = _with_hooks_value(json.loads(after), hook)
    if wanted == json.loads(after):
        return text
    while (own := _own_handler(json.loads(after), hook.client)) is not None:
        after = removed(after, own)
    if hook.command is not None:
        for event in HOOK_EVENTS:
            after = added(after, ["hooks", event], None, _group(hook.command))
    if json.loads(after) != wanted:
        raise ValueError("the result would differ in more than our own hooks")
    return after


def _group(command: str) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command, "timeout": CLIENT_TIMEOUT_S}]}


def _with_hooks_value(settings: dict[str, Any], hook: Hook) -> dict[str, Any]:
    """The same edit on the parsed value: what the text must come out as."""
    wanted = copy.deepcopy(settings)
    while (own := _own_handler(wanted, hook.client)) is not None:
        holder: Any = wanted
        for step in own[:-1]:
            holder = holder[step]
        del holder[own[-1]]
    if hook.command is not None:
        for event in HOOK_EVENTS:
            wanted.setdefault("hooks", {}).setdefault(event, []).append(_group(hook.command))
    return wanted


def _own_handler(settings: dict[str, Any], client: Client) -> list[str | int] | None:
    """The path of a handler of ours, or of what holds it and nothing else; None when there is none left."""
    hooks = settings.get("hooks", {})
    for event, groups in hooks.items():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") or []
            for place, handler in enumerate(handlers):
                if not is_own_command(split_command(str(handler.get("command", ""))), "hook", client):
                    continue
                if len(handlers) > 1:
                    return ["hooks", event, number, "hooks", place]
                if len(groups) > 1:
                    return ["hooks", event, number]
                return ["hooks", event] if len(hooks) > 1 else ["hooks"]
    return None


def server_of(config: Config, remove: bool) -> dict[str, Any] | None:
    if remove:
        return None
    words = command_words(config, "mcp")
    return {"type": "stdio", "command": words[0], "args": words[1:], "env": {}}


def with_server(text: str | None, server: dict[str, Any] | None) -> str | None:
    """The file with our MCP server registered for every project, or without it. Raises as `with_hooks`."""
    if text is None and server is None:
        return None
    after = text if text and text.strip() else "{}\n"
    settings = json.loads(after)
    present = settings.get("mcpServers", {}).get(SERVER_NAME)
    if present == server:
        return text
    if present is not None:
        if not is_own_command([str(present.get("command")), *map(str, present.get("args", []))], "mcp"):
            raise ValueError(f"the MCP server named {SERVER_NAME!r} is another program")
        after = removed(after, ["mcpServers", SERVER_NAME])
        if not json.loads(after)["mcpServers"] and server is None:
            after = removed(after, ["mcpServers"])
    if server is not None:
        after = added(after, ["mcpServers"], SERVER_NAME, server)
    wanted = {key: value for key, value in settings.items() if key != "mcpServers"}
    result = json.loads(after)
    others = {key: value for key, value in settings.get("mcpServers", {}).items() if key != SERVER_NAME}
    servers = result.pop("mcpServers", {})
    if result != wanted or servers != ({**others, SERVER_NAME: server} if server else others):
        raise ValueError("the result would differ in more than our own server")
    return after
