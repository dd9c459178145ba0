"""A dial stands at one of its values, in order, and tells when it is turned."""

from __future__ import annotations

import pytest

from tests.dashboard.stage import Stage
from tui.testing.driving import screen_text
from tui.widgets.dial import Dial


async def test_a_dial_stops_at_its_ends_and_tells_only_another_value():
    stage = Stage(Dial("limit", [str(number) for number in range(1, 21)], "2", id="limit"))
    async with stage.run_test() as pilot:
        dial = stage.query_one(Dial)
        assert screen_text(stage).startswith("limit ‹ 2 ›")
        for key, value in (("left", "1"), ("left", "1"), ("pageup", "11"), ("pageup", "20"), ("minus", "19")):
            await pilot.press(key)
            assert dial.value == value
    assert len(stage.told(Dial.Turned)) == 4


async def test_a_dial_that_wraps_goes_round():
    stage = Stage(Dial("turn", ("user", "assistant"), "user", id="turn", wraps=True))
    async with stage.run_test() as pilot:
        await pilot.press("space")
        assert stage.query_one(Dial).value == "assistant"
        await pilot.press("enter")
        assert stage.query_one(Dial).value == "user"


async def test_a_click_on_the_left_half_turns_back_and_on_the_right_half_on():
    stage = Stage(Dial("turn", "abc", "b", id="turn"))
    async with stage.run_test() as pilot:
        dial = stage.query_one(Dial)
        await pilot.click(dial, offset=(len("turn ‹"), 0))
        assert dial.value == "a"
        await pilot.click(dial, offset=(len("turn ‹ b"), 0))
        assert dial.value == "b"


@pytest.mark.parametrize(("value", "stands_at"), [("0.50", "0.50"), ("0.123", "0.00")])
def test_a_value_that_the_dial_lacks_is_not_set(value, stands_at):
    dial = Dial("threshold", ("0.00", "0.50"), value, id="threshold")
    assert dial.value == stands_at
    dial.set_value("0.7")
    assert dial.value == stands_at
