"""The MCP server as a process: the SDK's own client over stdio and HTTP, and the raw protocol where it matters."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.mcp_server.clients import PROTOCOL, SERVER, Raw, stdio, text, write
from vaultmem.config import Config, EngineChoice
from vaultmem.engine.engine import Engine
from vaultmem.install.token import token_file
from vaultmem.worker.server import Worker


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


async def test_saves_of_one_name_at_once_are_memories_of_their_own(
    environ: dict[str, str], root: Path
) -> None:
    fields = {"name": "One name", "description": "d", "body": "B", "tags": ["t"]}
    async with stdio(environ) as session, stdio(environ) as other:
        calls = [client.call_tool("memory_save", fields) for client in (session, other) * 6]
        answers = await asyncio.gather(*calls)
        keys = {answer.structured_content["id"] for answer in answers if answer.structured_content}
        assert len(keys) == 12
        for key in keys:
            assert not (await session.call_tool("memory_open", {"id": key})).is_error
    assert len(list(root.rglob("*one-name*.md"))) == 12


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
    assert raw.end() == 0
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


AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
NOISY_SERVER = Path(__file__).parent / "programs" / "noisy_server.py"


def test_nothing_but_the_protocol_reaches_stdout(environ: dict[str, str]) -> None:
    client = Raw(environ, NOISY_SERVER)
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


@pytest.fixture
def url(environ: dict[str, str]) -> Iterator[str]:
    process = subprocess.Popen([*SERVER, "--http", "0"], env=environ, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    line = process.stderr.readline()
    assert str(token_file(Path(environ["VAULTMEM_STATE_DIR"]))) in process.stderr.readline()
    yield line.split()[-1]
    process.terminate()
    process.wait(10)
    process.stderr.close()


async def test_the_sdks_client_drives_the_tools_over_http(url: str, environ: dict[str, str]) -> None:
    """With the very settings that `integrate generic` prints."""
    printed = subprocess.run(
        [sys.executable, "-m", "vaultmem", "integrate", "generic"],
        env=environ,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    ).stdout
    (headers,) = (json.loads(block) for block in re.findall(r'"headers": (\{.*?\})', printed, re.DOTALL))
    async with (
        create_mcp_http_client(headers=headers) as client,
        streamable_http_client(url, http_client=client) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        await session.initialize()
        assert len((await session.list_tools()).tools) == 3
        fields = {"name": "N", "description": "D", "body": "B", "tags": ["t"]}
        saved = await session.call_tool("memory_save", fields)
        assert saved.structured_content
        key = saved.structured_content["id"]
        assert not (await session.call_tool("memory_open", {"id": key})).is_error
        assert (await session.call_tool("memory_open", {"id": "nope"})).is_error


def post(url: str, **headers: str) -> tuple[int, str]:
    """The status and the whole of an answer."""
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
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        head = "".join(f"{key}: {value}\r\n" for key, value in lines.items())
        connection.sendall(f"POST /mcp HTTP/1.1\r\n{head}\r\n{body}".encode())
        with connection.makefile("rb") as answer:
            said = answer.read().decode()
    return int(said.split()[1]), said


@pytest.fixture
def token(url: str, environ: dict[str, str]) -> str:
    return token_file(Path(environ["VAULTMEM_STATE_DIR"])).read_text().strip()


def test_http_listens_on_this_machine_and_turns_foreign_hosts_and_origins_away(url: str, token: str) -> None:
    assert url.startswith("http://127.0.0.1:")
    for shown in ({}, {"Authorization": f"Bearer {token}"}):
        assert post(url, Host="evil.example:80", **shown)[0] == 421
        assert post(url, Host="127.0.0.1.evil.example", **shown)[0] == 421
        assert post(url, Origin="http://evil.example", **shown)[0] == 403
        assert post(url, Origin="null", **shown)[0] == 403
    assert post(url, Host="localhost:1", Authorization=f"bearer {token}")[0] not in (401, 403, 421)


def test_http_asks_for_the_token_and_says_where_it_lies(
    url: str, token: str, environ: dict[str, str]
) -> None:
    assert post(url, Authorization=f"Bearer {token}")[0] not in (401, 403, 421)
    for wrong in (None, "", token, "Bearer", f"Bearer {token[:-1]}", f"Bearer {token}x", f"Basic {token}"):
        code, said = post(url, **({} if wrong is None else {"Authorization": wrong}))
        assert code == 401 and 'www-authenticate: bearer realm="vaultmem"' in said.lower()
        assert str(token_file(Path(environ["VAULTMEM_STATE_DIR"]))) in said and token not in said


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_another_user_of_the_machine_can_neither_ask_nor_read_the_token(
    url: str, token: str, environ: dict[str, str]
) -> None:
    program = (
        "import sys, urllib.request, urllib.error\n"
        "try: open(sys.argv[1]).read(); print('read')\n"
        "except PermissionError: print('kept')\n"
        "try: urllib.request.urlopen(urllib.request.Request(sys.argv[2], b'{}', method='POST'))\n"
        "except urllib.error.HTTPError as error: print(error.code)\n"
    )
    file = str(token_file(Path(environ["VAULTMEM_STATE_DIR"])))
    done = subprocess.run(
        [*AS_NOBODY, "/usr/bin/env", "python3", "-c", program, file, url],
        env={"PATH": "/usr/local/bin:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == ["kept", "401"], done.stderr


def test_a_token_that_is_not_ours_ends_it_with_the_reason(environ: dict[str, str], tmp_path: Path) -> None:
    Path(environ["VAULTMEM_STATE_DIR"]).mkdir(mode=0o700)
    (tmp_path / "elsewhere").write_text("A" * 43)
    token_file(Path(environ["VAULTMEM_STATE_DIR"])).symlink_to(tmp_path / "elsewhere")
    done = subprocess.run(
        [*SERVER, "--http", "0"], env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 3 and "symbolic link" in done.stderr and "Traceback" not in done.stderr
    assert (tmp_path / "elsewhere").read_text() == "A" * 43


def test_a_port_that_is_taken_is_one_clear_line(environ: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*SERVER, "--http", port], env=environ, capture_output=True, text=True, timeout=30, check=False
        )
    assert done.returncode == 3 and done.stdout == ""
    assert f"port {port}" in done.stderr and "Traceback" not in done.stderr
