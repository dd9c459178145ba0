"""Tags as chips: each says what will become of it, and keys and clicks tell which one is meant."""

from __future__ import annotations

from tests.dashboard.stage import Stage
from tui.models.tag_draft import Chip, TagDraft
from tui.testing.driving import screen_text
from tui.widgets.chips import Chips

DRAFT = TagDraft.of([["on-all", "on-some", "going"], ["on-all", "going"]]).with_tag("new").without("going")


def stage() -> Stage:
    chips = Chips(id="chips")
    chips.chips = DRAFT.chips
    return Stage(chips)


def told(stage: Stage, kind: type) -> list[str]:
    return [message.tag for message in stage.told(kind)]


async def test_a_chip_says_what_becomes_of_its_tag_and_on_how_many_notes_it_is():
    app = stage()
    async with app.run_test():
        line = screen_text(app).splitlines()[0].rstrip() + " "
    assert line.split("   ") == [" ✓ on-all", "~ on-some 1/2", "− going", "+ new 0/2 "]


async def test_keys_act_on_the_chip_under_the_cursor_which_stops_at_the_ends():
    app = stage()
    async with app.run_test() as pilot:
        await pilot.press("left", "space", "right", "delete", "right", "right", "right", "backspace")
    assert told(app, Chips.Turned) == ["on-all"]
    assert told(app, Chips.Removed) == ["on-some", "new"]


async def test_chips_that_do_not_fit_stand_in_the_next_line_and_can_be_clicked_there():
    app = stage()
    async with app.run_test(size=(30, 10)) as pilot:
        chips = app.query_one(Chips)
        assert chips.size.height == 2
        await pilot.click(chips, offset=(2, 1))
        assert told(app, Chips.Turned) == ["going"] and chips.index == 2
        await pilot.click(chips, offset=(29, 1))
        assert told(app, Chips.Turned) == ["going"]


async def test_the_cursor_stays_on_a_chip_when_the_last_one_goes():
    app = stage()
    async with app.run_test() as pilot:
        chips = app.query_one(Chips)
        chips.index = 3
        chips.chips = (Chip("a", 1, 1, is_added=False, is_removed=False),)
        assert chips.index == 0
        chips.chips = ()
        await pilot.press("space", "delete")
        assert screen_text(app).startswith("no tags")
    assert told(app, Chips.Turned) == told(app, Chips.Removed) == []
