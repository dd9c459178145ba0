"""`vaultmem integrate CLIENT`: the client's own configuration, edited in place: one block of ours and nothing else.

Deciding is pure: texts in, texts out, each proven by parsing it. Applying keeps a backup beside the file, and
refuses when the file is not the one that was read. `--remove` takes out what is ours, whoever moved it around.
"""

from __future__ import annotations

import difflib
import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from vaultmem.clients import GENERIC, Client
from vaultmem.errors import EditRefusedError, UsageError
from vaultmem.files import atomic
from vaultmem.files.replacement import replace_file
from vaultmem.install.codex_block import codex_block, with_block
from vaultmem.install.invocation import HOOK_EVENTS, SERVER_NAME, command_words
from vaultmem.install.json_settings import hook_of, server_of, with_hooks, with_server
from vaultmem.install.token import kept_token, token_file
from vaultmem.regular_file import read_whole
from vaultmem.text.shown import quoted

if TYPE_CHECKING:
    from vaultmem.config import Config

BACKUP_SUFFIX = ".vaultmem-backup"
HTTP_PORT = 8765
HTTP_URL = f"http://127.0.0.1:{HTTP_PORT}/mcp"
"""What other clients are told to use; any port will do."""


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
            for line in difflib.unified_diff(*lines, quoted(str(self.path)), quoted(str(self.path)))
        )


# --- the command


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
    if client == GENERIC:
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
    if client == Client.CLAUDE_CODE:
        folder = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude").expanduser()
        state = folder / ".claude.json" if environ.get("CLAUDE_CONFIG_DIR") else home / ".claude.json"
        hook, server = hook_of(Client.CLAUDE_CODE, config, remove), server_of(config, remove)
        return (
            _edit(folder / "settings.json", lambda text: with_hooks(text, hook)),
            _edit(state, lambda text: with_server(text, server)),
        )
    if client == Client.CODEX:
        folder = Path(environ.get("CODEX_HOME") or home / ".codex").expanduser()
        hooks = folder / "hooks.json"
        block = None if remove else codex_block(config, with_hooks=not hooks.exists())
        edits = [_edit(folder / "config.toml", lambda text: with_block(text, block))]
        if hooks.exists():  # Codex wants the hooks of a layer in one form
            hook = hook_of(Client.CODEX, config, remove)
            edits.append(_edit(hooks, lambda text: with_hooks(text, hook)))
        return tuple(edits)
    raise UsageError(f"there is no client {client!r}", advice=f"There are: {', '.join((*Client, GENERIC))}.")


def _edit(path: Path, change: Any) -> FileEdit:
    target = path.resolve()  # a link into somebody's dotfiles stays a link
    try:
        before = read_whole(target).decode("utf-8")
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
            is_written = atomic.create_file(edit.path, data, mode=0o600)
        else:
            before = edit.before.encode()
            if back_up:
                _back_up(edit.path, before)
            is_written = replace_file(edit.path, before, data)
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
    atomic.write_file(backup, before, mode=0o600)


def _backup_of(path: Path) -> Path:
    return path.with_name(path.name + BACKUP_SUFFIX)


# --- words for people


def generic_text(config: Config) -> str:
    """What any other client needs, to be pasted."""
    words = command_words(config, "mcp")
    server = {"mcpServers": {SERVER_NAME: {"command": words[0], "args": words[1:]}}}
    token, file = _token(config), token_file(config.state_dir)
    over_http = {"type": "http", "url": HTTP_URL, "headers": {"Authorization": f"Bearer {token}"}}
    hook = shlex.join(command_words(config, "hook", Client.CLAUDE_CODE))
    return "\n".join(
        (
            "# MCP server over stdio; most clients take this JSON:",
            json.dumps(server, ensure_ascii=False, indent=2),
            "",
            "# MCP server over HTTP, on this machine only:",
            f"{shlex.join(command_words(config, 'mcp', '--http', str(HTTP_PORT)))}",
            f"#   then, with the token in {file}, which is for your own clients only:",
            json.dumps({"mcpServers": {SERVER_NAME: over_http}}, ensure_ascii=False, indent=2),
            "",
            "# Passive recall, for clients with hooks in Claude Code's form (JSON on stdin, JSON on stdout):",
            hook,
            f"#   on: {', '.join(HOOK_EVENTS)}",
            "",
        )
    )


def _token(config: Config) -> str:
    """What clients over HTTP must show; where it cannot be kept, the words say what goes in its place."""
    try:
        return kept_token(config.state_dir)
    except OSError:
        return f"<what {token_file(config.state_dir)} holds>"


def _what_next(client: str, remove: bool) -> str:
    if remove:
        return f"{client}: removed. Running sessions keep what they loaded.\n"
    steps: Sequence[str] = {
        Client.CLAUDE_CODE: ("start a new session; /hooks and /mcp list what was added",),
        Client.CODEX: ("start a new session; trust the four hooks when Codex asks, or with /hooks",),
    }[Client(client)]
    return (
        f"{client}: {'; '.join(steps)}. `vaultmem watch` (or `vaultmem service install`) keeps hints quick.\n"
    )
