"""Our block in Codex's config.toml: the MCP server, and the hooks where no hooks.json has them. Pure."""

from __future__ import annotations

import functools
import json
import shlex
from typing import TYPE_CHECKING, Any

from vaultmem.clients import Client
from vaultmem.install.invocation import CLIENT_TIMEOUT_S, HOOK_EVENTS, SERVER_NAME, command_words

if TYPE_CHECKING:
    from vaultmem.config import Config

BLOCK_BEGIN = "# >>> vaultmem >>> written by `vaultmem integrate codex`; `--remove` takes it out"
BLOCK_END = "# <<< vaultmem <<<"
MINGLED = "our block and what is around it cannot be told apart"


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
    if text is None and block is None:
        return None
    before = text or ""
    head, own, tail = _parted(before)
    rest = head + tail
    _prove(before, head, own, tail)
    _prove(rest, head, tail)
    if block is None:
        return rest
    newline = "\r\n" if "\r\n" in rest else "\n"
    gap = "" if not rest.strip() else newline if rest.endswith("\n") else newline * 2
    after = rest + gap + block.replace("\n", newline)
    _prove(after, rest, block)
    return after


def _parted(text: str) -> tuple[str, str, str]:
    """What stands before our block, the block, and what stands after it. Raises ValueError."""
    start = text.find(BLOCK_BEGIN)
    if start < 0:
        return text, "", ""
    end = text.find(BLOCK_END, start)
    if end < 0:
        raise ValueError("our block has no end mark any more")
    stop = text.find("\n", end) + 1 or len(text)
    head = text[:start]
    for newline in ("\r\n", "\n"):  # the empty line that was put before it
        if head.endswith(newline * 2):
            head = head[: -len(newline)]
            break
    return head, text[start:stop], text[stop:]


def _prove(whole: str, *parts: str) -> None:
    """Raise ValueError unless the whole says what its parts say, each by itself.

    A key that was written behind our block, for one, is our last table's; without the block it would be another's.
    """
    if functools.reduce(_together, map(_said, parts)) != _said(whole):
        raise ValueError(MINGLED)


def _said(text: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text.replace("\r\n", "\n"), parse_float=str)  # a NaN as a number would equal nothing


def _together(one: Any, other: Any) -> Any:
    """What two texts say, one after the other."""
    if isinstance(one, dict) and isinstance(other, dict):
        both = {key: _together(one[key], other[key]) for key in one.keys() & other.keys()}
        return one | other | both
    if isinstance(one, list) and isinstance(other, list):
        return one + other
    raise ValueError(MINGLED)
