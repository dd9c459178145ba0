"""A note's text with the line with the problem marked, and a pointer below it that says what is wrong."""

from __future__ import annotations

import pytest

from tests.dashboard.stage import Stage
from tui.testing.driving import screen_text
from tui.widgets.source import MOST_SHOWN_LINES, Source


async def shown(*arguments: object) -> list[str]:
    stage = Stage(Source(id="source"))
    async with stage.run_test(size=(40, 12)) as pilot:
        stage.query_one(Source).show(*arguments)
        await pilot.pause()
        return [line.rstrip() for line in screen_text(stage).splitlines()]


async def test_a_pointer_stands_under_the_place_with_the_problem():
    lines = await shown("---\nname: \tx: y\n---\n", 2, 8, "a [colon]")
    assert lines[0].split() == ["1", "---"]
    assert lines[1].split() == ["▌", "▶", "2", "name:", "x:", "y"]
    assert lines[2].strip() == "╰─ a [colon]"
    assert lines[2].index("╰") == lines[1].index("x:")


@pytest.mark.parametrize("line", [None, 99])
async def test_without_a_line_nothing_is_marked(line):
    lines = await shown("one\ntwo", line, None, "wrong")
    assert not any("▶" in each or "╰" in each for each in lines)


async def test_what_is_invisible_or_controls_a_terminal_is_shown_as_a_sign():
    (first, *_) = await shown("a\x1b[31mb\u202ec", None, None, "")
    assert first.endswith("a�[31mb�c")


async def test_of_a_long_note_the_lines_around_the_problem_are_there():
    stage = Stage(Source(id="source"))
    async with stage.run_test() as pilot:
        source = stage.query_one(Source)
        source.show("x\n" * 9_000, 5_000, 1, "here")
        await pilot.pause()
        assert len(source.keys) == MOST_SHOWN_LINES + 1 and source.key == "5000"
        assert "╰─ here" in screen_text(stage)
        source.clear()
        assert list(source.keys) == []
