"""The MCP server as a process: the SDK's own client over stdio and HTTP, and the raw protocol where it matters."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from vaultmem.config import Config, EngineChoice
from vaultmem.engine.engine import Engine
from vaultmem.worker.server import Worker

NOTE = "---\nid: {id}\nname: {id}\ndescription: About {id}\ntags: [t]\nstatus: active\n---\n\n{body}\n"
SERVER = [sys.executable, "-m", "vaultmem", "mcp"]
PROTOCOL = "2025-06-18"


def write(root: Path, key: str, body: str = "body") -> None:
    path = root / "2026" / "05" / "week2" / f"{key}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(NOTE.format(id=key, body=body), encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault" / "March Memories"
    root.mkdir(parents=True)
    write(root, "mem_a", "The prefix cache was cold.")
    return root


@pytest.fixture
def environ(root: Path, tmp_path: Path) -> dict[str, str]:
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("VAULTMEM", "MARCH", "CLAUDE"))
    }
    (tmp_path / "config.toml").touch()
    return {
        **kept,
        "HOME": str(tmp_path),
        "MARCH_MEMORY_ROOT": str(root),
        "VAULTMEM_STATE_DIR": str(tmp_path / "state"),
        "VAULTMEM_CONFIG": str(tmp_path / "config.toml"),
        "VAULTMEM_EMBEDDER": "none",
    }


@contextlib.asynccontextmanager
async def stdio(environ: dict[str, str]) -> AsyncIterator[ClientSession]:
    server = StdioServerParameters(command=SERVER[0], args=SERVER[1:], env=environ)
    async with stdio_client(server) as (read, write_to), ClientSession(read, write_to) as session:
        await session.initialize()
        yield session


def text(result: Any) -> str:
    return str(result.content[0].text)


class Raw:
    """A client that sees every byte the server writes."""

    def __init__(self, environ: dict[str, str], code: str | None = None) -> None:
        command = SERVER if code is None else [sys.executable, "-c", code]
        self.started = time.monotonic()
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environ)
        self.lines: queue.Queue[bytes] = queue.Queue()
        self._answers: dict[object, dict[str, Any]] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put(line)

    def send(self, method: str, params: dict[str, Any] | None = None, number: int | None = None) -> None:
        assert self.process.stdin
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if number is not None:
            message["id"] = number
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def initialize(self) -> dict[str, Any]:
        info = {"name": "raw", "version": "0"}
        self.send("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": info}, 1)
        answer = self.answer(1)
        self.send("notifications/initialized")
        return answer

    def call(self, tool: str, number: int, **arguments: Any) -> None:
        self.send("tools/call", {"name": tool, "arguments": arguments}, number)

    def answer(self, number: int | str | None) -> dict[str, Any]:
        while number not in self._answers:
            message = json.loads(self.lines.get(timeout=30))
            self._answers[message.get("id")] = message
        return self._answers.pop(number)

    def end(self) -> int:
        assert self.process.stdin
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        code = self.process.wait(10)
        self._reader.join(5)
        return code


@pytest.fixture
def raw(environ: dict[str, str]) -> Iterator[Raw]:
    client = Raw(environ)
    yield client
    client.process.kill()
    client.end()
    for stream in (client.process.stdout, client.process.stderr):
        assert stream
        stream.close()


async def test_the_sdks_client_drives_every_tool_over_stdio(environ: dict[str, str], root: Path) -> None:
    async with stdio(environ) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert set(tools) == {"memory_search", "memory_open", "memory_save"}
        assert all(tool.output_schema and tool.description for tool in tools.values())
        for name, reads in (("memory_search", True), ("memory_open", True), ("memory_save", False)):
            hints = tools[name].annotations
            assert hints and (hints.read_only_hint, hints.idempotent_hint) == (reads, reads)
        assert list(tools["memory_save"].input_schema["properties"]) == [
            "id",
            "name",
            "description",
            "body",
            "tags",
        ]
        found = await session.call_tool("memory_search", {"query": "prefix"})
        assert found.structured_content and found.structured_content["matches"][0]["id"] == "mem_a"
        fields = {"name": "标题", "description": "D", "body": "# B\n\n新 needle", "tags": ["T"]}
        saved = await session.call_tool("memory_save", fields)
        assert saved.structured_content and saved.structured_content["created"] is True
        key = saved.structured_content["id"]
        opened = await session.call_tool("memory_open", {"id": key})
        assert opened.structured_content and "新 needle" in opened.structured_content["body"]
        assert key in text(await session.call_tool("memory_search", {"query": "新 needle"}))
        updated = await session.call_tool("memory_save", {"id": key, "tags": '["a", "b c"]'})
        assert updated.structured_content and updated.structured_content["tags"] == ["a", "b-c"]


async def test_bad_arguments_are_tool_errors_and_the_server_lives_on(environ: dict[str, str]) -> None:
    bad: list[tuple[str, dict[str, Any]]] = [
        ("memory_search", {}),
        ("memory_search", {"query": ["a"]}),
        ("memory_search", {"query": "x", "limit": "many"}),
        ("memory_search", {"query": "x", "limit": 10**30}),
        ("memory_open", {"id": None}),
        ("memory_open", {"id": "nope"}),
        ("memory_save", {"name": "only"}),
        ("memory_save", {"name": "n", "description": "d", "body": "b", "tags": [1, 2]}),
        ("memory_save", {"name": "n", "description": "d", "body": "x" * 3_000_000, "tags": ["t"]}),
        ("memory_delete", {"id": "mem_a"}),
    ]
    async with stdio(environ) as session:
        for tool, arguments in bad:
            answer = await session.call_tool(tool, arguments)
            assert answer.is_error, (tool, arguments)
            assert 0 < len(text(answer)) < 600 and "Traceback" not in text(answer)
        assert not (await session.call_tool("memory_open", {"id": "mem_a"})).is_error


async def test_what_a_worker_serves_is_the_same(environ: dict[str, str], root: Path) -> None:
    config = Config(root, Path(environ["VAULTMEM_STATE_DIR"]), engine=EngineChoice.NONE)
    with Engine.open(config=config, hold=True, watch=True) as engine, Worker(engine, lambda *_: ""):
        async with stdio(environ) as session:
            fields = {"name": "N", "description": "a memory of pears", "body": "B", "tags": ["t"]}
            saved = await session.call_tool("memory_save", fields)
            assert saved.structured_content
            key = saved.structured_content["id"]
            assert key in [hint.id for hint in engine.recall("a memory of pears").hints]
            assert not (await session.call_tool("memory_open", {"id": key})).is_error
            assert (await session.call_tool("memory_open", {"id": "nope"})).is_error


async def test_saves_are_read_back_beside_another_writer(environ: dict[str, str], root: Path) -> None:
    config = Config(root, Path(environ["VAULTMEM_STATE_DIR"]), engine=EngineChoice.NONE)
    with Engine.open(config=config, hold=True, watch=True) as engine:  # holds the lock, serves no socket
        assert engine.is_writer
        async with stdio(environ) as session:
            fields = {"name": "N", "description": "a memory of plums", "body": "B", "tags": ["t"]}
            saved = await session.call_tool("memory_save", fields)
            assert saved.structured_content
            key = saved.structured_content["id"]
            assert not (await session.call_tool("memory_open", {"id": key})).is_error
            assert key in text(await session.call_tool("memory_search", {"query": "plums"}))
            assert key in [hint.id for hint in engine.recall("a memory of plums").hints]


async def test_a_cancelled_call_leaves_the_server_answering(environ: dict[str, str], root: Path) -> None:
    write(root, "mem_big", "aaaaaaaaaaaaaaaaaaaaaaaaab\n" * 20_000)
    async with stdio(environ) as session:
        call = asyncio.create_task(session.call_tool("memory_search", {"query": "(a+)+c"}))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert not (await session.call_tool("memory_open", {"id": "mem_a"})).is_error


def test_a_cancelled_request_of_the_protocol_is_let_go(raw: Raw) -> None:
    raw.initialize()
    raw.call("memory_search", 2, query="cache")
    raw.send("notifications/cancelled", {"requestId": 2})
    raw.call("memory_open", 3, id="mem_a")
    assert raw.answer(3)["result"]["isError"] is False


def test_it_ends_soon_after_the_client_and_lets_go_of_the_lock(
    raw: Raw, environ: dict[str, str], root: Path
) -> None:
    raw.initialize()
    raw.call("memory_search", 2, query="cache")
    raw.answer(2)
    gone = time.monotonic()
    assert raw.end() == 0
    assert time.monotonic() - gone < 2
    config = Config(root, Path(environ["VAULTMEM_STATE_DIR"]), engine=EngineChoice.NONE)
    with Engine.open(config=config, hold=True) as engine:
        assert engine.is_writer


def test_what_was_asked_before_the_end_of_input_is_answered(environ: dict[str, str]) -> None:
    info = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "sh", "version": "0"}}
    messages = (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "memory_open", "arguments": {"id": "mem_a"}},
        },
    )
    sent = "".join(json.dumps(message) + "\n" for message in messages)
    done = subprocess.run(
        SERVER, input=sent, env=environ, capture_output=True, text=True, timeout=30, check=False
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, [answer["id"] for answer in answers]) == (0, [1, 2])


def test_a_broken_pipe_ends_it_quietly(environ: dict[str, str]) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    info = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "sh", "version": "0"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info}
    done = subprocess.run(
        SERVER,
        input=json.dumps(message).encode() + b"\n",
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=environ,
        timeout=30,
        check=False,
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_killed_server_loses_nothing_that_it_confirmed(
    raw: Raw, environ: dict[str, str], root: Path
) -> None:
    raw.initialize()
    for number in range(2, 8):
        raw.call("memory_save", number, name=f"n{number}", description="d", body="b", tags=["t"])
    confirmed = [raw.answer(number)["result"]["structuredContent"]["id"] for number in range(2, 5)]
    raw.process.send_signal(signal.SIGKILL)
    config = Config(root, Path(environ["VAULTMEM_STATE_DIR"]), engine=EngineChoice.NONE)
    with Engine.open(config=config) as engine:
        assert engine.sync().unreadable == 0
        assert {engine.open_memory(key).id for key in confirmed} == set(confirmed)
        assert engine.doctor().caches_agree


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


NOISY = """
import os, subprocess, sys
sys.argv = ["vaultmem"]
from vaultmem.worker import nearest
from vaultmem.config import Config
class Noisy(nearest.Nearest):
    def _own(self):
        print("loading the model..."); os.write(1, b"raw write\\n"); os.system("echo from a child")
        subprocess.run(["echo", "another child"]); sys.stdout.flush()
        import ctypes; ctypes.CDLL(None).puts(b"from C"); ctypes.CDLL(None).fflush(None)
        return super()._own()
nearest.Nearest = Noisy
print("before the server starts", file=sys.stderr)
from vaultmem.mcp_server.server import run_mcp
run_mcp(Config.load())
"""


def test_nothing_but_the_protocol_reaches_stdout(environ: dict[str, str]) -> None:
    client = Raw(environ, NOISY)
    client.initialize()
    client.call("memory_search", 2, query="cache")
    client.call("memory_save", 3, name="n", description="d", body="b", tags=["t"])
    client.answer(2)
    client.answer(3)
    client.end()
    assert client.process.stderr and client.process.stdout
    noise = client.process.stderr.read()
    for words in (b"loading the model", b"raw write", b"from a child", b"another child", b"from C"):
        assert words in noise
    for stream in (client.process.stdout, client.process.stderr):
        stream.close()


# --- HTTP


@pytest.fixture
def url(environ: dict[str, str]) -> Iterator[str]:
    process = subprocess.Popen([*SERVER, "--http", "0"], env=environ, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    line = process.stderr.readline()
    yield line.split()[-1]
    process.terminate()
    process.wait(10)
    process.stderr.close()


async def test_the_sdks_client_drives_the_tools_over_http(url: str) -> None:
    async with streamable_http_client(url) as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        assert len((await session.list_tools()).tools) == 3
        fields = {"name": "N", "description": "D", "body": "B", "tags": ["t"]}
        saved = await session.call_tool("memory_save", fields)
        assert saved.structured_content
        key = saved.structured_content["id"]
        assert not (await session.call_tool("memory_open", {"id": key})).is_error
        assert (await session.call_tool("memory_open", {"id": "nope"})).is_error


def post(url: str, **headers: str) -> int:
    host, port = url.split("/")[2].split(":")
    body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    lines = {
        "Host": f"{host}:{port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **headers,
    }
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        head = "".join(f"{key}: {value}\r\n" for key, value in lines.items())
        connection.sendall(f"POST /mcp HTTP/1.1\r\n{head}\r\n{body}".encode())
        return int(connection.recv(4096).split()[1])


def test_http_listens_on_this_machine_and_turns_foreign_hosts_and_origins_away(url: str) -> None:
    assert url.startswith("http://127.0.0.1:")
    assert post(url, Host="evil.example:80") == 421
    assert post(url, Origin="http://evil.example") == 403
    assert post(url) not in (403, 421)


def test_a_port_that_is_taken_is_one_clear_line(environ: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*SERVER, "--http", port], env=environ, capture_output=True, text=True, timeout=30, check=False
        )
    assert done.returncode == 3 and done.stdout == ""
    assert f"port {port}" in done.stderr and "Traceback" not in done.stderr
