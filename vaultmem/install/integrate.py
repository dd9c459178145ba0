"""`vaultmem integrate CLIENT`: the client's own configuration, edited in place: one block of ours and nothing else.

Deciding is pure: texts in, texts out, each proven by parsing it. Applying keeps a backup beside the file, and
refuses when the file is not the one that was read. `--remove` takes out what is ours, whoever moved it around.
"""

from __future__ import annotations

import copy
import difflib
import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from vaultmem.errors import EditRefusedError, UsageError
from vaultmem.files import atomic
from vaultmem.install.invocation import command_words, is_own_command, split_command
from vaultmem.install.json_edits import added, removed

if TYPE_CHECKING:
    from vaultmem.config import Config

CLIENTS = ("claude-code", "codex", "generic")
SERVER_NAME = "vaultmem"
HOOK_EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")
HOOK_TIMEOUT_S = 5
"""What the client waits at most; the hook itself ends within a second."""
BLOCK_BEGIN = "# >>> vaultmem >>> written by `vaultmem integrate codex`; `--remove` takes it out"
BLOCK_END = "# <<< vaultmem <<<"
BACKUP_SUFFIX = ".vaultmem-backup"


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One file of a client: its text before (None: it does not exist) and after (None: nothing to write)."""

    path: Path
    before: str | None
    after: str | None

    @property
    def is_change(self) -> bool:
        """Something would be written."""
        return self.after is not None and self.after != self.before

    @property
    def diff(self) -> str:
        """A unified diff."""
        lines = (self.before or "").splitlines(keepends=True), (self.after or "").splitlines(keepends=True)
        return "".join(
            line if line.endswith("\n") else f"{line}\n"
            for line in difflib.unified_diff(*lines, str(self.path), str(self.path))
        )


# --- the command ----------------------------------------------------------------------------------------


def run_integrate(
    client: str,
    config: Config,
    stdout: IO[str],
    *,
    remove: bool = False,
    dry_run: bool = False,
    environ: Mapping[str, str] = os.environ,
    home: Path | None = None,
) -> int:
    """Write or print a client's configuration; 0 also when there is nothing to do.

    Raises:
        UsageError: there is no such client.
        EditRefusedError: a file cannot be edited without doing more than what was asked.
    """
    if client == "generic":
        stdout.write(generic_text(config))
        return 0
    edits = plan(client, config, remove=remove, environ=environ, home=home or Path.home())
    changes = [edit for edit in edits if edit.is_change]
    for edit in changes:
        stdout.write(edit.diff if dry_run else f"{apply(edit, back_up=not remove)}\n")
    if not changes:
        stdout.write(f"{client}: nothing to {'remove' if remove else 'change'}\n")
    elif not dry_run:
        stdout.write(_what_next(client, remove))
    return 0


def plan(
    client: str, config: Config, *, remove: bool, environ: Mapping[str, str], home: Path
) -> tuple[FileEdit, ...]:
    """What would be written. Raises UsageError, EditRefusedError."""
    if client == "claude-code":
        folder = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude").expanduser()
        state = folder / ".claude.json" if environ.get("CLAUDE_CONFIG_DIR") else home / ".claude.json"
        server = _server(config, remove)
        return (
            _edit(folder / "settings.json", lambda text: with_hooks(text, _hook(client, config, remove))),
            _edit(state, lambda text: with_server(text, server)),
        )
    if client == "codex":
        folder = Path(environ.get("CODEX_HOME") or home / ".codex").expanduser()
        hooks = folder / "hooks.json"
        block = None if remove else codex_block(config, with_hooks=not hooks.exists())
        edits = [_edit(folder / "config.toml", lambda text: with_block(text, block))]
        if hooks.exists():  # Codex wants the hooks of a layer in one form
            edits.append(_edit(hooks, lambda text: with_hooks(text, _hook(client, config, remove))))
        return tuple(edits)
    raise UsageError(f"there is no client {client!r}", advice=f"There are: {', '.join(CLIENTS)}.")


def _edit(path: Path, change: Any) -> FileEdit:
    target = path.resolve()  # a link into somebody's dotfiles stays a link
    try:
        before = target.read_bytes().decode("utf-8")
    except FileNotFoundError:
        before = None
    except (OSError, UnicodeDecodeError) as error:
        raise EditRefusedError(f"{path} cannot be read: {error}") from None
    try:
        after = change(before)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise EditRefusedError(
            f"{path} is not in the form that its client documents ({error})",
            advice="Mend it, or add by hand what `vaultmem integrate generic` prints.",
        ) from None
    return FileEdit(target, before, after)


def apply(edit: FileEdit, *, back_up: bool) -> str:
    """Write one edit; what was done, in a line. A file that vaultmem made goes when nothing is left in it.

    Raises EditRefusedError.
    """
    assert edit.after is not None
    data = edit.after.encode()
    try:
        if edit.before is None:
            edit.path.parent.mkdir(parents=True, exist_ok=True)
            is_written = atomic.create(edit.path, data, mode=0o600)
        else:
            before = edit.before.encode()
            if back_up:
                _back_up(edit.path, before)
            done = atomic.replace(edit.path, data, only_if=lambda: edit.path.read_bytes() == before)
            is_written = done is not None
            is_ours_alone = edit.after.strip() in ("", "{}") and not _backup_of(edit.path).exists()
            if is_written and not back_up and is_ours_alone:
                edit.path.unlink()
                return f"deleted {edit.path}: nothing else was in it"
    except OSError as error:
        raise EditRefusedError(f"{edit.path} cannot be written: {error.strerror or error}") from None
    if not is_written:
        raise EditRefusedError(f"{edit.path} changed meanwhile; nothing was written", advice="Try again.")
    return f"wrote {edit.path}"


def _back_up(path: Path, before: bytes) -> None:
    """Keep what stood there before vaultmem did, however often it is written and taken out again."""
    backup = _backup_of(path)
    if b"vaultmem" in before and backup.exists():
        return
    atomic.write(backup, before, mode=0o600)


def _backup_of(path: Path) -> Path:
    return path.with_name(path.name + BACKUP_SUFFIX)


# --- JSON: Claude Code, and Codex's hooks.json ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hook:
    """The hook command of a client. `command` is None to take it out."""

    client: str
    command: str | None


def _hook(client: str, config: Config, remove: bool) -> Hook:
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
    return {"hooks": [{"type": "command", "command": command, "timeout": HOOK_TIMEOUT_S}]}


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


def _own_handler(settings: dict[str, Any], client: str) -> list[str | int] | None:
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


def _server(config: Config, remove: bool) -> dict[str, Any] | None:
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


# --- TOML: Codex ----------------------------------------------------------------------------------------


def codex_block(config: Config, *, with_hooks: bool) -> str:
    """Our part of Codex's config.toml: the MCP server, and the hooks where no hooks.json has them."""
    words = command_words(config, "mcp")
    lines = [
        f"[mcp_servers.{SERVER_NAME}]",
        f"command = {_toml(words[0])}",
        f"args = [{', '.join(map(_toml, words[1:]))}]",
    ]
    command = shlex.join(command_words(config, "hook", "codex"))
    for event in HOOK_EVENTS if with_hooks else ():
        lines += ["", f"[[hooks.{event}]]", f"[[hooks.{event}.hooks]]", 'type = "command"']
        lines += [f"command = {_toml(command)}", f"timeout = {HOOK_TIMEOUT_S}"]
    return "\n".join((BLOCK_BEGIN, *lines, BLOCK_END)) + "\n"


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def with_block(text: str | None, block: str | None) -> str | None:
    """The file with our block at its end, or without it; the rest keeps its bytes.

    Raises ValueError when the result would not be TOML, or would say something else besides our block.
    """
    import tomllib

    if text is None and block is None:
        return None
    before = text or ""
    tomllib.loads(before.replace("\r\n", "\n"))
    rest = _without_block(before)
    newline = "\r\n" if "\r\n" in rest else "\n"
    after = rest
    if block is not None:
        gap = "" if not rest.strip() else newline if rest.endswith("\n") else newline * 2
        after = rest + gap + block.replace("\n", newline)
    parsed = tomllib.loads(after.replace("\r\n", "\n"))
    if block is None and parsed != tomllib.loads(rest.replace("\r\n", "\n")):
        raise ValueError("the block cannot be taken out cleanly")
    return after


def _without_block(text: str) -> str:
    start = text.find(BLOCK_BEGIN)
    if start < 0:
        return text
    end = text.find(BLOCK_END, start)
    if end < 0:
        raise ValueError("our block has no end mark any more")
    stop = text.find("\n", end)
    tail = text[stop + 1 :] if stop >= 0 else ""
    head = text[:start]
    for newline in ("\r\n", "\n"):  # the empty line that was put before it
        if head.endswith(newline * 2):
            head = head[: -len(newline)]
            break
    return head + tail


# --- words for people -----------------------------------------------------------------------------------


def generic_text(config: Config) -> str:
    """What any other client needs, to be pasted."""
    words = command_words(config, "mcp")
    server = {"mcpServers": {SERVER_NAME: {"command": words[0], "args": words[1:]}}}
    hook = shlex.join(command_words(config, "hook", "claude-code"))
    return "\n".join(
        (
            "# MCP server over stdio; most clients take this JSON:",
            json.dumps(server, ensure_ascii=False, indent=2),
            "",
            "# MCP server over HTTP, on this machine only:",
            f"{shlex.join(command_words(config, 'mcp', '--http', '8765'))}",
            "#   then: http://127.0.0.1:8765/mcp",
            "",
            "# Passive recall, for clients with hooks in Claude Code's form (JSON on stdin, JSON on stdout):",
            hook,
            f"#   on: {', '.join(HOOK_EVENTS)}",
            "",
        )
    )


def _what_next(client: str, remove: bool) -> str:
    if remove:
        return f"{client}: removed. Running sessions keep what they loaded.\n"
    steps: Sequence[str] = {
        "claude-code": ("start a new session; /hooks and /mcp list what was added",),
        "codex": ("start a new session; trust the four hooks when Codex asks, or with /hooks",),
    }[client]
    return (
        f"{client}: {'; '.join(steps)}. `vaultmem watch` (or `vaultmem service install`) keeps hints quick.\n"
    )
