"""Tags of the vault for what is being typed, each with how many notes have it."""

from __future__ import annotations

from tests.dashboard.stage import Stage
from tui.dialogs.completions import Completions
from tui.testing.driving import screen_text, until


async def test_each_tag_is_offered_with_its_notes():
    stage = Stage(Completions())
    async with stage.run_test(size=(40, 10)) as pilot:
        table = stage.query_one(Completions)
        table.offer([("project/march", 1200), ("[b]", 1)])
        await until(pilot, lambda: "1,200" in screen_text(stage))
        lines = [line.split() for line in screen_text(stage).splitlines()[:2]]
        assert [line[-2:] for line in lines] == [["project/march", "1,200"], ["[b]", "1"]]
        table.offer([])
        assert table.key is None
