"""A running app in a test: wait for a condition, read the screen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual._context import visible_screen_stack
from textual.css.query import NoMatches

if TYPE_CHECKING:
    from textual.app import App
    from textual.pilot import Pilot


async def until(pilot: Pilot[int], holds: Callable[[], object], *, seconds: float = 20.0) -> None:
    """Let the app run until something holds. Raises AssertionError when it does not within `seconds`."""
    ends = time.monotonic() + seconds
    while not _is_so(holds):
        assert time.monotonic() < ends, "the condition did not come true"
        await asyncio.sleep(0.04)
    await pilot.pause()


def _is_so(holds: Callable[[], object]) -> bool:
    try:
        return bool(holds())
    except (LookupError, NoMatches):
        return False


def screen_text(app: App[int]) -> str:
    """What the screen shows, line by line."""
    # What is drawn here is kept: without the screens below, a dialog's surroundings would stay empty.
    visible_screen_stack.set(app._background_screens)
    return "\n".join(
        "".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()
    )
