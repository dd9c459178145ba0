"""Lines that the SDK drops without a word are answered, and what they ask for is not done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mcp_server.clients import Raw
from vaultmem.mcp_server.refusals import INVALID_REQUEST, PARSE_ERROR, refusal


@pytest.mark.parametrize(
    ("junk", "number", "code"),
    [
        (b"{bad\n", None, -32700),
        (b"\xff\xfe\n", None, -32700),
        (b"\xef\xbb\xbf{}\n", None, -32700),
        (b"[" * 100_000 + b"\n", None, -32700),
        (b"[]\n", None, -32600),
        (b"{}\n", None, -32600),
        (b"null\n", None, -32600),
        (b'{"jsonrpc":"2.0"}\n', None, -32600),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}\n', None, -32600),
        (b'{"jsonrpc":"2.0","id":"x","method":"\\udfff"}\n', "x", -32600),
    ],
)
def test_a_line_that_is_no_message_is_answered_and_the_server_goes_on(
    raw: Raw, junk: bytes, number: str | None, code: int
) -> None:
    raw.initialize()
    assert raw.process.stdin
    raw.process.stdin.write(b"\n" + junk)
    raw.call("memory_open", 9, id="mem_a")
    assert raw.answer(9)["result"]["isError"] is False
    assert raw.answer(number)["error"]["code"] == code


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_open", {"id": "\ud800"}),
        ("memory_search", {"query": "a\udc80"}),
        ("memory_save", {"name": "\ud800", "description": "d", "tags": ["a"], "body": "b"}),
        ("memory_save", {"name": "n", "description": "d", "tags": ["a"], "body": "\ude00\ud83d"}),
    ],
)
def test_half_a_character_in_an_argument_is_a_tool_error(
    raw: Raw, root: Path, tool: str, arguments: dict[str, Any]
) -> None:
    raw.initialize()
    raw.call(tool, 8, **arguments)
    result = raw.answer(8)["result"]
    assert result["isError"] is True and "half a surrogate pair" in result["content"][0]["text"]
    raw.call("memory_open", 9, id="mem_a")
    assert raw.answer(9)["result"]["isError"] is False
    assert len(list(root.rglob("*.md"))) == 1


def test_a_save_whose_bytes_are_no_utf8_writes_nothing(raw: Raw, root: Path) -> None:
    raw.initialize()
    fields = {"name": "n", "description": "d", "tags": ["a"], "body": "BODY"}
    params = {"name": "memory_save", "arguments": fields}
    call = {"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": params}
    assert raw.process.stdin
    raw.process.stdin.write(json.dumps(call).encode().replace(b"BODY", b"caf\xe9") + b"\n")
    raw.process.stdin.flush()
    assert "byte 0xe9" in raw.answer(None)["error"]["message"]
    assert len(list(root.rglob("*.md"))) == 1


def answer(line: bytes) -> dict[str, Any]:
    message = refusal(line)
    assert message is not None
    return message.model_dump(by_alias=True, exclude_none=True)


@pytest.mark.parametrize(
    "message",
    [
        {"id": 1, "method": "ping"},
        {"id": "x", "method": "tools/call", "params": {"name": "缓存"}},
        {"method": "notifications/initialized"},
        {"id": 1, "result": {}},
    ],
    ids=["request", "call", "notification", "answer"],
)
def test_what_the_sdk_can_read_is_not_refused(message: dict[str, Any]) -> None:
    assert refusal(json.dumps({"jsonrpc": "2.0", **message}).encode()) is None


@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_every_line_that_is_no_json_is_a_parse_error(line: bytes) -> None:
    try:
        json.loads(line.decode())
    except ValueError:
        assert answer(line)["error"]["code"] == PARSE_ERROR


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["id", "method", "params", "x"]), inner),
    max_leaves=6,
)


@given(JSON)
def test_json_that_is_no_message_is_an_invalid_request(message: Any) -> None:
    told = answer(json.dumps(message).encode())
    assert told["error"]["code"] == INVALID_REQUEST and told["jsonrpc"] == "2.0"


@pytest.mark.parametrize(
    ("number", "told"),
    [(7, 7), ("a", "a"), (True, None), (None, None), (1.5, None), ("\ud800", None), ([], None)],
)
def test_an_answer_carries_the_id_where_that_can_be_one(number: object, told: object) -> None:
    line = json.dumps({"id": number, "no": "message"}).encode()
    assert answer(line).get("id") == told
