"""Clients of an MCP server that runs as a process: the SDK's own, and one that sees every byte."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

NOTE = "---\nid: {id}\nname: {id}\ndescription: About {id}\ntags: [t]\nstatus: active\n---\n\n{body}\n"


SERVER = [sys.executable, "-m", "vaultmem", "mcp"]


PROTOCOL = "2025-06-18"


def write(root: Path, key: str, body: str = "body") -> None:
    path = root / "2026" / "05" / "week2" / f"{key}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(NOTE.format(id=key, body=body), encoding="utf-8")


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

    def __init__(self, environ: dict[str, str], program: Path | None = None) -> None:
        command = SERVER if program is None else [sys.executable, str(program)]
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
        """Hang up, and return its exit code; an error when it has not ended within ten seconds."""
        assert self.process.stdin
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        code = self.process.wait(10)
        self._reader.join(5)
        return code
