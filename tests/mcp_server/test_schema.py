"""The tools as a client sees them: names, schemas, annotations, and bad arguments as tool errors of a line."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.mcp_server.clients import stdio, text
from vaultmem.mcp_server.schema import InFlight, _tag_list


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


@pytest.mark.parametrize(
    ("given", "tags"),
    [
        (["a", "b"], ["a", "b"]),
        ('["a", "b c"]', ["a", "b c"]),
        ("a, b c,,", ["a", " b c"]),
        ("", []),
        (None, None),
        (3, 3),
    ],
)
def test_a_list_that_came_as_text_is_read_as_one(given: object, tags: object) -> None:
    assert _tag_list(given) == tags


async def test_the_warm_up_starts_once_and_after_the_answer_to_the_handshake() -> None:
    warm, starts = threading.Event(), list[int]()
    nearest = SimpleNamespace(warm_up=lambda: (starts.append(1), warm.set()))
    in_flight = InFlight(nearest)  # type: ignore[arg-type]
    counted = []

    async def go_on(context: Any) -> None:
        counted.append(in_flight.count)
        assert not warm.is_set()

    async def fail(context: Any) -> None:
        raise ValueError

    def message(method: str) -> Any:
        return SimpleNamespace(method=method)

    await in_flight(message("initialize"), go_on)
    with pytest.raises(ValueError):
        await in_flight(message("tools/call"), fail)
    assert starts == []
    await in_flight(message("notifications/initialized"), go_on)
    assert warm.wait(5) and (counted, in_flight.count) == ([1, 1], 0)
    warm.clear()
    await in_flight(message("notifications/initialized"), go_on)
    assert starts == [1]
