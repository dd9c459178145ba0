"""The first line says the vault, the state, how fresh it is and who writes; the least needed goes first."""

from __future__ import annotations

from collections.abc import Mapping

from tests.dashboard.stage import Stage
from tui.testing.driving import screen_text
from tui.widgets.top_bar import Facts, TopBar

EMBEDDING = {"state": "embedding", "done": 1200, "total": 4800, "seconds_left": 42.0, "age_s": 3.0}


LINES: tuple[tuple[Mapping[str, object], str], ...] = (
    ({}, "◌ starting"),
    ({"state": "idle", "age_s": 3.0, "is_writer": True}, "● idle   checked 3 s ago   writes here"),
    ({"state": "idle", "age_s": 0.0, "stale_notes": 2}, "● idle   checked just now, 2 stale"),
    ({"state": "idle", "is_writer": False, "writer_pid": 42}, "● idle   checked never   follows writer 42"),
    ({"state": "idle", "is_writer": False, "is_read_only": True}, "checked never   read-only · no writer"),
    ({"state": "idle", "is_writer": True, "is_read_only": True}, "checked never   read-only"),
    (EMBEDDING, "◐ embedding 1,200/4,800 ━━━───────────   about 42 s left   checked 3 s ago"),
)


async def test_the_line_says_what_is_known():
    stage = Stage(TopBar())
    async with stage.run_test(size=(120, 3)) as pilot:
        bar = stage.query_one(TopBar)
        for facts, told in LINES:
            bar.facts = Facts("vault › [b]", **facts)  # type: ignore[arg-type]
            await pilot.pause()
            shown = line(stage)
            assert shown.startswith(" ◆ vaultmem vault › [b]") and shown.rstrip().endswith(told)


async def test_in_a_narrow_window_the_state_is_what_stays():
    stage = Stage(TopBar())
    async with stage.run_test(size=(120, 3)) as pilot:
        stage.query_one(TopBar).facts = Facts("vault › [b]", **EMBEDDING)  # type: ignore[arg-type]
        for width, last in (
            (120, "about 42 s left   checked 3 s ago"),
            (90, "about 42 s left"),
            (80, "─"),
            (60, "─"),
        ):
            await pilot.resize_terminal(width, 3)
            shown = line(stage)
            assert len(shown) == width and shown.rstrip().endswith(last)


def line(stage: Stage) -> str:
    return screen_text(stage).splitlines()[0]
