"""A count, and a sign where it alarms."""

from __future__ import annotations

from textual.widgets import Digits, Static

from tests.dashboard.stage import Stage
from tui.widgets.tile import Tile


async def test_a_number_that_alarms_has_a_sign_and_one_that_does_not_has_none():
    stage = Stage(Tile("in conflict", id="tile"))
    async with stage.run_test():
        tile = stage.query_one(Tile)
        label = tile.query_one(".tile-label", Static)
        tile.show(1234, is_alarming=True)
        assert (tile.query_one(Digits).value, str(label.content)) == ("1,234", "✖ in conflict")
        tile.show(0)
        assert (str(tile.query_one(".tile-small", Static).content), str(label.content)) == (
            "0",
            "in conflict",
        )
        assert not tile.has_class("-alarming")
