"""A line to type a filter into: escape empties it first and leaves it then."""

from __future__ import annotations

import pytest

from tests.dashboard.stage import Stage
from tui.testing.driving import screen_text, until
from tui.widgets.filter_bar import FilterBar


async def test_escape_empties_the_filter_first_and_leaves_it_then():
    stage = Stage(FilterBar("filter", id="filter"))
    async with stage.run_test() as pilot:
        bar = stage.query_one(FilterBar)
        bar.start()
        await pilot.press(*"Two WORDS")
        assert (bar.value, bar.words) == ("Two WORDS", ("two", "words"))
        await pilot.press("escape")
        assert bar.value == "" and not stage.told(FilterBar.Left)
        await pilot.press("escape")
        assert len(stage.told(FilterBar.Left)) == 1


@pytest.mark.parametrize("key", ["enter", "down"])
async def test_the_list_is_one_key_away_and_the_filter_stays(key):
    stage = Stage(FilterBar("filter", id="filter"))
    async with stage.run_test() as pilot:
        stage.query_one(FilterBar).start()
        await pilot.press("x", key)
        assert len(stage.told(FilterBar.Left)) == 1 and stage.query_one(FilterBar).value == "x"


async def test_a_note_stands_at_the_right_end_and_is_never_markup():
    stage = Stage(FilterBar("filter", id="filter"))
    async with stage.run_test(size=(40, 5)) as pilot:
        bar = stage.query_one(FilterBar)
        bar.note = "[b] · 1 of 2"
        assert bar.note == "[b] · 1 of 2"
        await until(pilot, lambda: screen_text(stage).splitlines()[0].rstrip().endswith("[b] · 1 of 2"))
