# No `from __future__ import annotations`: the SDK reads the tools' annotations as they stand.
"""The tools as the MCP SDK wants them: schemas, annotations, structured output, tool errors.

The module that knows the SDK's server; `server` imports it once the client's stdout is safe.
"""

import json
import logging
import sys
import threading
from collections.abc import Callable
from typing import Annotated, Any

import anyio.to_thread
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import BeforeValidator, Field, ValidationError

from vaultmem.errors import VaultmemError
from vaultmem.mcp_server.replies import MemoryData, Reply, SavedData, SearchData, error_text
from vaultmem.mcp_server.tools import INSTRUCTIONS, OPEN_TEXT, SAVE_TEXT, SEARCH_TEXT, Tools
from vaultmem.text.logs import HarmlessFormatter
from vaultmem.worker.nearest import Nearest

READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)


def _tag_list(value: object) -> object:
    """Some clients send a list as text: JSON, or words with commas between them."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return [part for part in value.split(",") if part.strip()]


Query = Annotated[str, Field(description="Text or a regular expression, matched within one line.")]
Limit = Annotated[int, Field(description="At most so many lines: 1 to 100.")]
MemoryId = Annotated[str, Field(description="The id of a memory, such as mem_01hx_context_cache.")]
KnownId = Annotated[str | None, Field(description="Only to change an existing memory: its id.")]
Name = Annotated[str | None, Field(description="Short, for people. Required for a new memory.")]
Description = Annotated[
    str | None, Field(description="One sentence: what was learnt. Required for a new memory.")
]
Body = Annotated[
    str | None, Field(description="Markdown without a frontmatter block. Required for a new memory.")
]
Tags = Annotated[
    list[str] | None,
    BeforeValidator(_tag_list),
    Field(description="At least one for a new memory; for an existing one they replace all."),
]


class PlainServer(MCPServer[Any]):
    """Says in one line which argument is wrong; the SDK's own text is pydantic's, of several lines and a link."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """As the SDK does. Raises ToolError."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            faults = (
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.__cause__.errors()
            )
            raise ToolError(f"{name} cannot use its arguments: {'; '.join(faults)}.") from error.__cause__


def build_server(tools: Tools, version: str) -> MCPServer[Any]:
    """The server with its three tools."""
    # Before the SDK sets up its own, which shows tracebacks with the values of the user's notes.
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(HarmlessFormatter("vaultmem: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    server = PlainServer(
        "vaultmem", title="vaultmem", instructions=INSTRUCTIONS, version=version, log_level="WARNING"
    )

    @server.tool(title="Search memories", description=SEARCH_TEXT, annotations=READS)
    async def memory_search(query: Query, limit: Limit = 10) -> Annotated[CallToolResult, SearchData]:
        return await _answer(lambda: tools.search(query, limit))

    @server.tool(title="Open a memory", description=OPEN_TEXT, annotations=READS)
    async def memory_open(id: MemoryId) -> Annotated[CallToolResult, MemoryData]:  # noqa: A002
        return await _answer(lambda: tools.open(id))

    @server.tool(title="Save a memory", description=SAVE_TEXT, annotations=WRITES)
    async def memory_save(
        id: KnownId = None,  # noqa: A002
        name: Name = None,
        description: Description = None,
        body: Body = None,
        tags: Tags = None,
    ) -> Annotated[CallToolResult, SavedData]:
        return await _answer(lambda: tools.save(id, name, description, body, tags))

    return server


async def _answer(work: Callable[[], Reply]) -> CallToolResult:
    """Work in a thread that a cancelled call leaves behind; what was to be expected becomes a tool error."""
    try:
        reply = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
    except VaultmemError as error:
        raise ToolError(error_text(error)) from None
    except OSError as error:
        raise ToolError(f"The file system refused: {error.strerror or type(error).__name__}.") from None
    text = TextContent(type="text", text=reply.text)
    return CallToolResult(content=[text], structured_content=dict(reply.data), is_error=reply.is_error)


class InFlight:
    """Middleware that counts requests, and once starts the warm-up: after the first answer, never before."""

    def __init__(self, nearest: Nearest) -> None:
        self.count = 0
        self._nearest = nearest
        self._is_warm = False

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Pass a message on."""
        self.count += 1
        try:
            return await call_next(ctx)
        finally:
            self.count -= 1
            if not self._is_warm and ctx.method == "notifications/initialized":
                self._is_warm = True
                threading.Thread(target=self._nearest.warm_up, daemon=True).start()
