"""Answers to lines that the MCP SDK drops without a word: no JSON, no message, or text that cannot be read.

Pure: the bytes of a line in, the message to answer with out. A client that gets none waits for ever.
"""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
from pydantic import ValidationError

from vaultmem.text.shown import is_text

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
LONE_SURROGATE = "the text holds half a surrogate pair"
SEND_TEXT = "Send it as UTF-8 text."


def refusal(line: bytes) -> types.JSONRPCMessage | None:
    """What to answer a line that is no message; None for one that the SDK can read."""
    try:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        pass
    else:
        return None
    try:
        message = json.loads(line.decode())
    except UnicodeDecodeError as error:
        return _error(None, PARSE_ERROR, f"byte 0x{line[error.start]:02x} at {error.start} is no UTF-8")
    except (ValueError, RecursionError) as error:
        return _error(None, PARSE_ERROR, f"the line is no JSON: {error}")
    number = _id_of(message)
    if is_text(json.dumps(message, ensure_ascii=False)):
        return _error(number, INVALID_REQUEST, "the line is no JSON-RPC message")
    if number is not None and message.get("method") == "tools/call":
        return _tool_error(number)
    return _error(number, INVALID_REQUEST, f"{LONE_SURROGATE}. {SEND_TEXT}")


def _id_of(message: Any) -> int | str | None:
    number = message.get("id") if isinstance(message, dict) else None
    is_usable = isinstance(number, int | str) and not isinstance(number, bool)
    return number if is_usable and is_text(str(number)) else None


def _error(number: int | str | None, code: int, words: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=words))


def _tool_error(number: int | str) -> types.JSONRPCResponse:
    text = types.TextContent(type="text", text=f"{LONE_SURROGATE}. {SEND_TEXT}")
    result = types.CallToolResult(content=[text], is_error=True)
    return types.JSONRPCResponse(
        jsonrpc="2.0", id=number, result=result.model_dump(by_alias=True, exclude_none=True)
    )
