"""The notice over a window that is too small."""

from __future__ import annotations

import pytest
from textual.geometry import Size

from tests.dashboard.stage import Stage
from tui.testing.driving import screen_text, until
from tui.widgets.too_small import TooSmall, cover, is_too_small


@pytest.mark.parametrize(
    ("size", "is_so"),
    [((60, 15), False), ((59, 15), True), ((60, 14), True), ((0, 0), True), ((300, 90), False)],
)
def test_a_window_is_too_small_below_60_by_15(size, is_so):
    assert is_too_small(Size(*size)) is is_so


async def test_each_screen_has_one_notice_however_often_it_is_covered():
    stage = Stage()
    async with stage.run_test(size=(40, 10)) as pilot:
        for is_covered in (False, True, True, False, True):
            cover(stage.screen_stack, is_covered)
            await pilot.pause()
            assert stage.screen.has_class("-too-small") is is_covered
            assert len(stage.screen.query(TooSmall)) <= 1
        await until(pilot, lambda: "This window is 40 × 10." in screen_text(stage))
        assert "The dashboard needs 60 × 15." in screen_text(stage) and "ctrl+q quits." in screen_text(stage)
