"""`vaultmem mcp`: the tools for any MCP client, over stdio or loopback HTTP.

The client's stdout is taken away from everybody else before anything heavy is imported: what Python, C code or
a child prints goes to stderr. The SDK is all that start-up waits for; the engine opens behind the first answer.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from vaultmem import __version__
from vaultmem.errors import EngineError
from vaultmem.install.token import kept_token, token_file
from vaultmem.text.shown import harmless

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from vaultmem.config import Config
    from vaultmem.mcp_server.schema import InFlight
    from vaultmem.worker.nearest import Nearest

EXIT_S = 0.5
"""How long the engine may take to close once the client has gone."""
DRAIN_S = 1.0
"""How long requests that were sent before the end of input may still take."""


def run_mcp(config: Config, *, http_port: int | None = None) -> int:
    """Serve until the client goes away (stdio) or the process is told to stop (HTTP), then end the process.

    Raises:
        EngineError: the port cannot be had, or the token of its clients not be kept.
    """
    wires = None if http_port is not None else _take_wires()
    listener = None if http_port is None else _listen(http_port)

    from vaultmem.hooks.usage import SessionLog
    from vaultmem.mcp_server.schema import InFlight, build_server
    from vaultmem.mcp_server.tools import Tools, session_of_client
    from vaultmem.worker.nearest import Nearest

    nearest = Nearest(config)
    tools = Tools(config, nearest, SessionLog(config.root, session_of_client()))
    server = build_server(tools, __version__)
    in_flight = InFlight(nearest)
    server.middleware.append(in_flight)
    try:
        if listener is not None:
            _serve_http(server, listener, config.state_dir)
        elif wires is not None:
            _serve_stdio(server, in_flight, *wires)
    finally:
        _close(nearest)
    return 0


# --- stdio


def _take_wires() -> tuple[IO[bytes], IO[bytes]]:
    """The client's stdin and stdout, which nobody else in this process can reach from now on."""
    nowhere = os.open(os.devnull, os.O_RDONLY)
    source, target = os.dup(0), os.dup(1)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    os.close(nowhere)
    return os.fdopen(source, "rb"), os.fdopen(target, "wb")


def _serve_stdio(server: MCPServer[Any], in_flight: InFlight, source: IO[bytes], target: IO[bytes]) -> None:
    import io

    import anyio
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage

    from vaultmem.mcp_server.refusals import refusal

    lines = anyio.wrap_file(source)
    stdout = anyio.wrap_file(io.TextIOWrapper(target, encoding="utf-8", newline="\n"))

    async def serve() -> None:
        async def input_lines() -> AsyncIterator[str]:
            async for line in lines:
                if answer := line.strip() and refusal(line):
                    await write.send(SessionMessage(answer))
                elif line.strip():
                    yield line.decode()
            with anyio.move_on_after(DRAIN_S):  # answers to what was asked before the end
                while in_flight.count:
                    await anyio.sleep(0.02)

        stdin = cast("anyio.AsyncFile[str]", input_lines())
        low_level = server._lowlevel_server  # `run_stdio_async` would take the wires from fd 0 and 1
        async with stdio_server(stdin, stdout) as (read, write):
            await low_level.run(read, write, low_level.create_initialization_options())

    try:
        anyio.run(serve)
    except* (OSError, KeyboardInterrupt):
        pass  # the client went away while it was being answered


def _close(nearest: Nearest) -> None:
    """Close the engine and end the process, whatever thread still reads or works."""
    closing = threading.Thread(target=nearest.close, daemon=True)
    closing.start()
    closing.join(EXIT_S)
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    if sys.exc_info()[0] is None:
        os._exit(0)


# --- HTTP


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise EngineError(
            f"port {port} of this machine cannot be had: {reason}", advice="Choose another with --http PORT."
        ) from None


def _token(state_dir: Path) -> str:
    try:
        return kept_token(state_dir)
    except OSError as error:
        raise EngineError(
            f"the token in {token_file(state_dir)} cannot be kept: {error.strerror or error}",
            advice="Without it every user of this machine could read the memories. Mend or delete the file.",
        ) from None


def _serve_http(server: MCPServer[Any], listener: socket.socket, state_dir: Path) -> None:
    """Streamable HTTP, for clients of this machine that show the token. Raises EngineError when there is none."""
    import uvicorn

    from vaultmem.mcp_server.bearer import BearerGate

    host, port = listener.getsockname()[:2]
    file = token_file(state_dir)
    app = server.streamable_http_app(host=host)
    gate = BearerGate(app, _token(state_dir), file)
    told = f"vaultmem: clients send the token in {harmless(str(file))}: `Authorization: Bearer …`"
    print(f"vaultmem: MCP at http://{host}:{port}/mcp\n{told}", file=sys.stderr, flush=True)  # noqa: T201
    config = uvicorn.Config(gate, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])
