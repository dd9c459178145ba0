"""Our block in Codex's config.toml: the MCP server, and the hooks where no hooks.json has them. Pure."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from vaultmem.clients import Client
from vaultmem.install.invocation import CLIENT_TIMEOUT_S, HOOK_EVENTS, SERVER_NAME, command_words

if TYPE_CHECKING:
    from vaultmem.config import Config

BLOCK_BEGIN = "# >>> vaultmem >>> written by `vaultmem integrate codex`; `--remove` takes it out"
BLOCK_END = "# <<< vaultmem <<<"


def codex_block(config: Config, *, with_hooks: bool) -> str:
    """Our part of Codex's config.toml: the MCP server, and the hooks where no hooks.json has them."""
    words = command_words(config, "mcp")
    lines = [
        f"[mcp_servers.{SERVER_NAME}]",
        f"command = {_toml(words[0])}",
        f"args = [{', '.join(map(_toml, words[1:]))}]",
    ]
    command = shlex.join(command_words(config, "hook", Client.CODEX))
    for event in HOOK_EVENTS if with_hooks else ():
        lines += ["", f"[[hooks.{event}]]", f"[[hooks.{event}.hooks]]", 'type = "command"']
        lines += [f"command = {_toml(command)}", f"timeout = {CLIENT_TIMEOUT_S}"]
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
