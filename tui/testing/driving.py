"""A running app in a test: wait for a condition, read the screen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual._context import visible_screen_stack
from textual.css.query import NoMatches
from textual.widgets import Markdown

if TYPE_CHECKING:
    from textual.app import App
    from textual.pilot import Pilot


LONGEST_MOMENT_S = 0.5
"""What the dashboard puts off for a moment, it puts off for less than this; a toast stays longer."""


async def settled(app: App[int], *, seconds: float = 20.0) -> None:
    """Let the app run until no message waits, nothing is asked, drawn, or put off for a moment.

    Raises AssertionError when it does not come to rest within `seconds`.
    """
    ends, quiet = time.monotonic() + seconds, 0
    while quiet < 4:  # between two messages, a task may be about to send the next one
        assert time.monotonic() < ends, "the dashboard did not come to rest"
        is_busy = _has_messages(app) or _is_asking(app) or _is_to_be_drawn(app) or _has_put_off(app)
        quiet = 0 if is_busy else quiet + 1
        await asyncio.sleep(0.005 if is_busy else 0)


def _has_messages(app: App[int]) -> bool:
    return any(pump._message_queue.qsize() or pump._next_callbacks for pump in (app, *app._registry))


def _is_asking(app: App[int]) -> bool:
    """An engine call is under way, or the parser of a note's body, which has a thread too."""
    return any(not worker.is_finished for worker in app.workers) or any(
        isinstance(node, Markdown) and node.lock.is_locked for node in app._registry
    )


def _is_to_be_drawn(app: App[int]) -> bool:
    screen = app.screen
    return screen.is_current and bool(
        screen._layout_required
        or screen._scroll_required
        or screen._repaint_required
        or screen._recompose_required
        or screen._dirty_widgets
        or screen._callbacks
    )


def _has_put_off(app: App[int]) -> bool:
    return any(
        timer._repeat is not None
        and timer._interval < LONGEST_MOMENT_S
        and timer._task is not None
        and not timer._task.done()
        for pump in (app, *app._registry)
        for timer in pump._timers
    )


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
