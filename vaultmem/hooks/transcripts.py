"""The assistant's own last text, read from the end of a client's transcript. Tools' output is never read.

Both clients write JSON lines and call their form internal: what is not known here is passed over.
Claude Code (2.1): `{"type": "assistant", "message": {"content": [{"type": "text", …}]}}`, a line per block.
Codex (0.1xx): `{"type": "response_item", "payload": {"type": "message", "role": "assistant", …}}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vaultmem.regular_file import open_regular

READ_LIMIT_BYTES = 8 << 20
"""The text is looked for in so much of the transcript's end; a tool's result may be megabytes."""
BLOCK_BYTES = 1 << 16
LINE_LIMIT_BYTES = 1 << 20
"""A longer line is a tool's output or an image, not something that was said."""


def last_assistant_text(path: Path) -> str | None:
    """What the assistant said last since the user's last message, or None.

    Raises:
        OSError: the transcript cannot be read.
    """
    for line in lines_from_end(path):
        if b'"assistant"' not in line and b'"user' not in line:
            continue
        entry = _entry(line)
        if entry is None:
            continue
        if (text := assistant_text(entry)) is not None:
            return text
        if is_user_message(entry):
            return None
    return None


def assistant_text(entry: dict[str, Any]) -> str | None:
    """The words of an entry in which the assistant of the main conversation speaks, else None."""
    if entry.get("isSidechain") or entry.get("isApiErrorMessage") or entry.get("isMeta"):
        return None
    message = entry.get("message") if entry.get("type") == "assistant" else entry.get("payload")
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return None
    return _words(message.get("content"), ("text", "output_text")) or None


def is_user_message(entry: dict[str, Any]) -> bool:
    """The entry is a message that a person wrote; tool results travel under the user's name, too."""
    if entry.get("type") == "event_msg":
        payload = entry.get("payload")
        return isinstance(payload, dict) and payload.get("type") == "user_message"
    message = entry.get("message")
    if entry.get("type") != "user" or entry.get("isMeta") or entry.get("isSidechain"):
        return False
    return isinstance(message, dict) and bool(_words(message.get("content"), ("text",)))


def _words(content: object, kinds: tuple[str, ...]) -> str:
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, list):
        return ""
    texts = (block.get("text") for block in content if isinstance(block, dict) and block.get("type") in kinds)
    return "\n".join(text for text in texts if isinstance(text, str)).strip()


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def lines_from_end(path: Path) -> Iterator[bytes]:
    """The lines of a file, last first, within READ_LIMIT_BYTES of its end. Raises OSError."""
    with open_regular(path) as file:
        position = file.seek(0, 2)
        stop = max(0, position - READ_LIMIT_BYTES)
        rest = b""
        while position > stop:
            start = max(stop, position - BLOCK_BYTES)
            file.seek(start)
            lines = (file.read(position - start) + rest).split(b"\n")
            position = start
            rest = lines[0] if len(lines[0]) < LINE_LIMIT_BYTES else b""
            yield from (line for line in reversed(lines[1:]) if line.strip())
        if stop == 0 and rest.strip():
            yield rest
