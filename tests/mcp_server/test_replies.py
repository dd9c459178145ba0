"""What the tools answer: bounded, marked as the user's, and without what a terminal or an agent would obey."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.worker.served import MEMORY
from vaultmem.errors import ConfigError, EngineError
from vaultmem.mcp_server.replies import (
    MATCH_CHARS,
    NEIGHBOUR_CHARS,
    OPEN_LIMIT_CHARS,
    SEARCH_LIMIT_CHARS,
    WHOSE,
    conflict_reply,
    error_text,
    memory_reply,
    saved_reply,
    search_reply,
)
from vaultmem.views import NoteCopy, OpenedMemory, Saved, SearchMatch, SearchResult

ROOT = Path("/notes")


def match(number: int = 1, text: str = "line", note_id: str | None = "m") -> SearchMatch:
    return SearchMatch(note_id, "a.md", number, text, (), ())


def memory(text: str, body: str | None = None) -> OpenedMemory:
    return dataclasses.replace(MEMORY, text=text, body=text if body is None else body)


def test_search_output_is_bounded() -> None:
    lines = tuple(
        SearchMatch("m", "a.md", n, "字" * 5000, ("x" * 999,) * 2, ("y" * 999,) * 2) for n in range(100)
    )
    reply = search_reply("字", SearchResult(lines), 100)
    assert len(reply.text) < SEARCH_LIMIT_CHARS + 1000 and reply.data["truncated"]  # type: ignore[typeddict-item]
    shown = reply.data["matches"][0]  # type: ignore[typeddict-item]
    assert (len(shown["text"]), len(shown["before"][0])) == (MATCH_CHARS, NEIGHBOUR_CHARS)


@pytest.mark.parametrize(
    ("found", "headline"),
    [
        (0, "No line of any memory matches `a b`. It was read as one pattern, not as a list of words:"),
        (1, f"1 matching line for `a b` in {WHOSE}"),
        (2, f"2 matching lines for `a b` in {WHOSE}"),
        (3, f"2+ matching lines for `a b` in {WHOSE}"),
    ],
)
def test_a_search_begins_with_how_much_was_found(found: int, headline: str) -> None:
    result = SearchResult(tuple(map(match, range(found))))
    assert search_reply("a b", result, 2).text.startswith(headline)


def test_what_went_wrong_beside_the_matches_is_told_with_them() -> None:
    reply = search_reply(
        "x", SearchResult((match(note_id=None),), ("a.md\x1b\n cannot be read",)), 5, "(note)"
    )
    first, _, _, *lines = reply.text.split("\n")
    assert (first, lines) == ("(note)", ["(no id) · a.md:1", "  > line", "Note: a.md cannot be read"])
    assert reply.data["warnings"] == ["a.md cannot be read"]  # type: ignore[typeddict-item]


def test_a_memory_stands_between_two_marks_and_the_data_says_the_same() -> None:
    reply = memory_reply(memory("one\r\ntwo \x1b[31m\u202e", "two"), ROOT)
    assert reply.text == f"[memory mem_1] 2026/05/a.md ({WHOSE})\none\ntwo [31m\n[end of memory]"
    data: Any = reply.data
    assert (data["text"], data["body"], data["rest"], data["truncated"]) == (
        "one\ntwo [31m",
        "two",
        "",
        False,
    )


def test_of_a_long_memory_the_answer_says_where_the_rest_begins() -> None:
    text = "x" * 9 + "\n"
    reply = memory_reply(memory(text * (OPEN_LIMIT_CHARS // 10) + "rest"), ROOT)
    data: Any = reply.data
    assert len(data["text"]) == OPEN_LIMIT_CHARS and reply.text.endswith(f"[truncated: {data['rest']}]")
    assert data["rest"].endswith(
        f"for the rest read /notes/2026/05/a.md from line {OPEN_LIMIT_CHARS // 10 + 1}"
    )


def test_a_conflict_is_an_error_that_names_every_copy_and_whose_turn_it_is() -> None:
    at = datetime(2026, 5, 1, tzinfo=UTC)
    copies = [NoteCopy(path, at, 12_345, looks_like_sync_copy=False) for path in ("a.md", "a 1.md")]
    reply = conflict_reply("mem_a", copies)
    assert reply.is_error and reply.text.startswith("2 notes have the id mem_a;")
    assert "- a 1.md (changed 2026-05-01T00:00:00+00:00, 12,345 bytes)" in reply.text
    assert reply.text.endswith("Tell the user: `vaultmem adopt PATH` gives one of them an id of its own.")


@pytest.mark.parametrize(
    ("created", "diff", "verb"),
    [(True, "+x", "Saved a new memory:"), (False, "+x", "Updated"), (False, "", "Nothing differs in")],
)
def test_a_save_says_whether_it_was_new_or_changed_anything(created: bool, diff: str, verb: str) -> None:
    reply = saved_reply(Saved(MEMORY, created, diff), (), 160)
    assert reply.text == f"{verb} mem_1 at 2026/05/a.md; tags: a, b"


def test_what_says_nearly_the_same_is_named_with_what_it_says() -> None:
    reply = saved_reply(Saved(MEMORY, True, "+x", ("mem_1",)), [MEMORY], 160)
    assert reply.text.endswith("\n- mem_1 | 名 A | desc")
    assert reply.data["similar"] == [{"id": "mem_1", "name": "名 A", "description": "desc"}]  # type: ignore[typeddict-item]
    narrow = saved_reply(Saved(MEMORY, True, "+x", ("mem_1",)), [MEMORY], 3)
    assert narrow.text.endswith("\n- mem_1 | 名 A | de…")


def test_an_error_is_one_line_with_what_to_do() -> None:
    assert error_text(EngineError("no engine.\n", advice="Restart it.")) == "no engine. Restart it."
    assert error_text(ConfigError("x \x1b[31m")) == "x [31m."
