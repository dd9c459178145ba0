"""The failure cases of MCP servers (tests/cases: mc-…) that need a server; mc-stdout and mc-eof-orphan are in
test_server.py."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from pathlib import Path

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from vaultmem.config import Config, EngineChoice
from vaultmem.engine.engine import Engine
from vaultmem.notes.parse import parse_note

CASES = Path(__file__).parents[1] / "cases" / "data"
NOTE = "---\nid: {id}\nname: N\ndescription: About {id}\ntags: [t]\nstatus: active\ncreated_at: 2026-01-01\n---\n\nb\n"


def server(root: Path, state: Path) -> StdioServerParameters:
    environ = {**os.environ, "VAULTMEM_EMBEDDER": "none", "HOME": str(state.parent)}
    words = ["-m", "vaultmem", "mcp", "--root", str(root), "--state-dir", str(state)]
    return StdioServerParameters(command=sys.executable, args=words, env=environ)


async def test_two_servers_saving_one_memory_at_once_leave_a_whole_note(tmp_path: Path) -> None:
    """mc-memory-save-race."""
    root, state = tmp_path / "root", tmp_path / "state"
    path = root / "2026" / "01" / "week1" / "m.md"
    path.parent.mkdir(parents=True)
    path.write_text(NOTE.format(id="m"))
    async with (
        stdio_client(server(root, state)) as one,
        stdio_client(server(root, state)) as two,
        ClientSession(*one) as first,
        ClientSession(*two) as second,
    ):
        await asyncio.gather(first.initialize(), second.initialize())
        sets = [[f"set{n}", f"of{n}"] for n in range(20)]
        calls = (
            session.call_tool("memory_save", {"id": "m", "tags": tags, "body": f"body {tags[0]}\n"})
            for session, tags in zip([first, second] * 10, sets, strict=True)
        )
        answers = await asyncio.gather(*calls)
    assert [answer.is_error for answer in answers].count(False) >= 10
    note = parse_note("m.md", path.read_bytes())
    assert list(note.tags) in sets and note.body.strip() == f"body {note.tags[0]}"
    assert note.created_at == "2026-01-01" and not note.problems
    with Engine.open(config=Config(root, state, engine=EngineChoice.NONE)) as engine:
        assert engine.open_memory("m").tags == note.tags
        assert next(iter(engine.notes())).tags == note.tags
        assert engine.doctor().caches_agree
    assert [each.name for each in path.parent.iterdir()] == ["m.md"]


async def test_bad_notes_do_not_break_the_tools_for_the_others(tmp_path: Path) -> None:
    """mc-one-bad-note."""
    vault = tmp_path / "vault"
    shutil.copytree(CASES / "mc-one-bad-note" / "vault", vault)
    root, state = vault / "March Memories", tmp_path / "state"
    started = time.monotonic()
    async with stdio_client(server(root, state)) as streams, ClientSession(*streams) as session:
        await session.initialize()
        assert not (await session.call_tool("memory_open", {"id": "okn"})).is_error
        found = await session.call_tool("memory_search", {"query": "needle_one"})
        assert found.structured_content and found.structured_content["matches"]
        saved = await session.call_tool("memory_save", {"id": "okn", "description": "still editable"})
        assert not saved.is_error
    assert time.monotonic() - started < 30
    with Engine.open(config=Config(root, state, engine=EngineChoice.NONE)) as engine:
        engine.sync()
        told = {diagnostic.path.rpartition("/")[2] for diagnostic in engine.diagnostics()}
        assert told >= {f"bad{number}.md" for number in (1, 2, 4, 5, 6)}
        assert engine.open_memory("d3").id == "d3"  # bad3: a date is text here, 0000-00-00 too


async def test_a_large_vault_without_caches_is_answered_before_it_is_indexed(tmp_path: Path) -> None:
    """mc-startup-time: the handshake waits for nothing, and search and open work from the first call."""
    root, state = tmp_path / "root", tmp_path / "state"
    for number in range(3000):
        path = root / "2026" / "01" / f"week{number % 4 + 1}" / f"n{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(NOTE.format(id=f"mem_{number}"))
    (root / "2026" / "01" / "week1" / "twin.md").write_text(NOTE.format(id="mem_7"))
    async with stdio_client(server(root, state)) as streams, ClientSession(*streams) as session:
        await session.initialize()
        opened = await session.call_tool("memory_open", {"id": "mem_2999"})
        found = await session.call_tool("memory_search", {"query": "mem_2998$"})
        twin = await session.call_tool("memory_open", {"id": "mem_7"})
        twins = await session.call_tool("memory_search", {"query": "mem_7$"})
    assert not opened.is_error
    assert found.structured_content and found.structured_content["matches"][0]["id"] == "mem_2998"
    assert twin.is_error and twin.structured_content and len(twin.structured_content["conflict"]) == 2
    assert twins.structured_content and twins.structured_content["matches"] == []
