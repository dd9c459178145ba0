"""The first line says the vault, the state, how fresh it is and who writes; the least needed goes first."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.dashboard.stage import Stage
from tui.testing.driving import screen_text
from tui.widgets.top_bar import TopBar

EMBEDDING = {"state": "embedding", "done": 1200, "total": 4800, "seconds_left": 42.0, "age_s": 3.0}


async def line(facts: Mapping[str, object], width: int = 120) -> str:
    stage = Stage(TopBar())
    async with stage.run_test(size=(width, 3)) as pilot:
        stage.query_one(TopBar).update(vault="vault › [b]", **facts)
        await pilot.pause()
        return screen_text(stage).splitlines()[0]


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({}, "◌ starting"),
        ({"state": "idle", "age_s": 3.0, "is_writer": True}, "● idle   checked 3 s ago   writes here"),
        ({"state": "idle", "age_s": 0.0, "stale_notes": 2}, "● idle   checked just now, 2 stale"),
        (
            {"state": "idle", "is_writer": False, "writer_pid": 42},
            "● idle   checked never   follows writer 42",
        ),
        (
            {"state": "idle", "is_writer": False, "is_read_only": True},
            "checked never   read-only · no writer",
        ),
        ({"state": "idle", "is_writer": True, "is_read_only": True}, "checked never   read-only"),
        (EMBEDDING, "◐ embedding 1,200/4,800 ━━━───────────   about 42 s left   checked 3 s ago"),
    ],
)
async def test_the_line_says_what_is_known(facts, told):
    shown = await line(facts)
    assert shown.startswith(" ◆ vaultmem vault › [b]") and shown.rstrip().endswith(told)


@pytest.mark.parametrize(
    ("width", "last"),
    [(120, "about 42 s left   checked 3 s ago"), (90, "about 42 s left"), (80, "─"), (60, "─")],
)
async def test_in_a_narrow_window_the_state_is_what_stays(width, last):
    shown = await line(EMBEDDING, width)
    assert len(shown) == width and shown.rstrip().endswith(last)
