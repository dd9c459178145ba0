"""A window below 60 × 15: only the notice is seen; beneath it nothing acts, breaks or is lost."""

from __future__ import annotations

import pytest
from textual import events
from textual.widgets import Input, TextArea

from tests.dashboard.steps import ready
from tui.app import VaultmemApp
from tui.dialogs.tags import TagDialog
from tui.screens.conflict import ConflictScreen
from tui.testing.driving import screen_text, settled, until
from tui.widgets.rows import Rows

LARGE = (120, 40)
SMALL = ((20, 5), (59, 40), (120, 14), (1, 1))
NOTICE = "The dashboard needs 60"
OPENERS = {
    "overview": ("1",),
    "diagnostics": ("2", "down"),
    "recall": ("3",),
    "a prompt": ("3", *"cache"),
    "memories": ("4", "down"),
    "a filter": ("4", "slash"),
    "activity": ("5",),
    "tags": ("4", "t"),
    "a description": ("4", "w"),
    "a tag's new name": ("R",),
    "the trash": ("4", "x"),
    "help": ("question_mark",),
    "themes": ("T",),
    "the palette": ("ctrl+p",),
    "a conflict": ("2", "down", "c"),
}


def shows_the_notice_alone(app: VaultmemApp) -> bool:
    notices = app.screen.query("#too-small")
    return bool(notices) and notices.first().region == app.screen.region == app.screen.size.region


@pytest.mark.parametrize("size", SMALL)
async def test_no_key_no_click_and_no_paste_acts_on_what_is_not_seen(engine, open_dashboard, size):
    app = open_dashboard(engine)
    async with app.run_test(size=LARGE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "j")
        await pilot.pause()
        rows = app.dashboard.query_one("MemoriesPane Rows", Rows)
        await until(pilot, lambda: rows.has_focus)
        await settled(app)  # what is called from here on, a key has called
        place, files, called = rows.key, dict(engine.files), list(engine.calls)
        await pilot.resize_terminal(*size)
        await until(pilot, lambda: shows_the_notice_alone(app))
        await pilot.press("j", "d", "x", "enter", "space", "A", "t", "u", "r", "1", "3", "ctrl+p", "escape")
        app.post_message(events.Paste("words"))
        await pilot.click(offset=(0, 0))
        await pilot.click(offset=(size[0] - 1, size[1] - 1))
        assert app.screen is app.dashboard and rows.has_focus and rows.key == place and not rows.marked
        assert engine.files == files
        assert [call for call in engine.calls[len(called) :] if call not in ("freshness", "status")] == []
        await pilot.resize_terminal(*LARGE)
        await until(pilot, lambda: "Redis" in screen_text(app))
        assert app.dashboard.query_one("#panes").current == "memories-pane"
        await pilot.press("d")
        await until(pilot, lambda: engine.files != files)


async def test_a_window_that_is_too_small_from_the_start_takes_no_key(engine, open_dashboard):
    app = open_dashboard(engine)
    before = dict(engine.files)
    async with app.run_test(size=(20, 5)) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "j", "d")
        assert shows_the_notice_alone(app) and engine.files == before
        await pilot.resize_terminal(*LARGE)
        await until(pilot, lambda: "1 Overview" in screen_text(app))
        assert NOTICE not in screen_text(app)


async def test_a_dialog_takes_nothing_either_and_keeps_what_was_typed(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=LARGE) as pilot:
        await ready(app, pilot)
        before = dict(engine.files)
        await pilot.press("4", "t", *"za")
        await until(pilot, lambda: isinstance(app.screen, TagDialog))
        box = app.screen.query_one(Input)
        await pilot.resize_terminal(59, 14)
        await until(pilot, lambda: shows_the_notice_alone(app))
        assert NOTICE in screen_text(app)
        app.post_message(events.Paste("pasted"))
        await pilot.press("q", "b", "enter", "enter", "escape")
        assert app.is_running and isinstance(app.screen, TagDialog)
        assert box.value == "za" and box.has_focus and engine.files == before
        await pilot.resize_terminal(*LARGE)
        await pilot.press("b")
        assert box.value == "zab"


async def test_a_screen_that_opens_in_a_window_too_small_is_covered_too(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=(40, 10)) as pilot:
        await ready(app, pilot)
        app.push_screen(ConflictScreen("mem_gitignore"))
        await until(pilot, lambda: isinstance(app.screen, ConflictScreen) and app.screen.query_one(Rows).keys)
        await until(pilot, lambda: shows_the_notice_alone(app))
        await pilot.press("a", "d", "K", "escape")
        assert isinstance(app.screen, ConflictScreen) and NOTICE in screen_text(app)
        await pilot.resize_terminal(*LARGE)
        await pilot.press("escape")
        assert app.screen is app.dashboard


@pytest.mark.parametrize(
    ("keys", "key", "ends"),
    [
        (("4",), "q", True),
        (("3", *"words"), "q", True),
        (("4", "t"), "ctrl+q", True),
        (("4", "t"), "ctrl+c", True),
        (("4", "t"), "q", False),
    ],
)
async def test_quitting_is_what_remains(engine, open_dashboard, keys, key, ends):
    app = open_dashboard(engine)
    async with app.run_test(size=LARGE) as pilot:
        await ready(app, pilot)
        await pilot.press(*keys)
        await pilot.resize_terminal(20, 5)
        await pilot.press(key)
        assert (app.return_code == 0) is ends


async def test_keys_that_wait_their_turn_when_the_window_shrinks_are_dropped(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=LARGE) as pilot:
        await ready(app, pilot)
        before = dict(engine.files)
        await pilot.press("4")
        for key in ("down", "down", "d", "d", "d"):
            app.post_message(events.Key(key, None))
        app.post_message(events.Resize(*((size := app.size.with_width(20)), size)))
        app.post_message(events.Key("x", "x"))
        await until(pilot, lambda: shows_the_notice_alone(app))
        assert engine.files == before
        await pilot.resize_terminal(*LARGE)
        await pilot.press("5")
        await until(pilot, lambda: app.dashboard.query_one("#panes").current == "activity-pane")


@pytest.mark.parametrize("what", OPENERS)
async def test_nothing_breaks_at_any_size_and_the_focus_stays(engine, open_dashboard, what):
    app = open_dashboard(engine)
    async with app.run_test(size=LARGE) as pilot:
        await ready(app, pilot)
        await pilot.press(*OPENERS[what])
        await pilot.pause()
        screen, focused = app.screen, app.focused
        for size in ((59, 15), (12, 3), (160, 1), (3, 30), (2, 40), (1, 1), (160, 50), (1, 40), (60, 15)):
            await pilot.resize_terminal(*size)
        assert app.screen is screen and app.focused is focused and focused is not None
        for box in app.screen.query(TextArea):
            assert not box.is_on_screen or box.content_size.width > 0
