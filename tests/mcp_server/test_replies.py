"""What the tools answer: bounded, marked as the user's, and without what a terminal or an agent would obey."""

from __future__ import annotations

from vaultmem.mcp_server.replies import SEARCH_LIMIT_CHARS, search_reply
from vaultmem.views import SearchMatch, SearchResult


def test_search_output_is_bounded() -> None:
    lines = tuple(
        SearchMatch("m", "a.md", n, "字" * 5000, ("x" * 999,) * 2, ("y" * 999,) * 2) for n in range(100)
    )
    reply = search_reply("字", SearchResult(lines), 100)
    assert len(reply.text) < SEARCH_LIMIT_CHARS + 1000 and reply.data["truncated"]  # type: ignore[typeddict-item]
