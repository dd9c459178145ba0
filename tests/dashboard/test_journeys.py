"""The ways through the dashboard that a person takes, by keys, on an engine in memory."""

from __future__ import annotations

from textual import events
from textual.widgets import TextArea

from tests.dashboard.steps import CACHE, REDIS, go_to_finding, ready, rows
from tui.dialogs.confirm import ConfirmDialog
from tui.dialogs.describe import DescribeDialog
from tui.dialogs.tags import TagDialog
from tui.dialogs.told import ToldDialog
from tui.screens.conflict import ConflictScreen
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file
from vaultmem.notes.parse import parse_note

SIZE = (110, 34)


async def test_a_conflict_is_compared_and_one_copy_gets_a_new_id(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await go_to_finding(app, pilot, "conflict_id")
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, ConflictScreen) and rows(app, "comparison").keys)
        shown = screen_text(app)
        assert "looks like a sync tool's copy" in shown
        assert "Plugins too." in shown and "frontmatter:" in shown
        await pilot.press("a")
        await until(pilot, lambda: not isinstance(app.screen, ConflictScreen))
        ids = [note.id for note in engine.notes() if "gitignore" in note.path]
        assert len(set(ids)) == 2 and "mem_gitignore" in ids


async def test_trashing_a_copy_asks_first_and_can_be_undone(engine, open_dashboard):
    app = open_dashboard(engine)
    before = dict(engine.files)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await go_to_finding(app, pilot, "conflict_id")
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, ConflictScreen) and rows(app, "comparison").keys)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("n")
        assert engine.files == before
        await pilot.press("x", "y")
        await until(pilot, lambda: len(engine.files) == len(before) - 1)
        await until(pilot, lambda: app.history.done and app.screen is app.dashboard)
        await pilot.press("u")
        await until(pilot, lambda: engine.files == before)


async def test_keeping_one_copy_moves_the_others_to_the_trash(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await go_to_finding(app, pilot, "conflict_id")
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, ConflictScreen) and rows(app, "comparison").keys)
        await pilot.press("left", "K", "y")
        await until(pilot, lambda: len(engine.trashed) == 1)
        assert "conflicted copy" in next(iter(engine.trashed))


async def test_a_suggested_description_is_saved_only_when_asked_for(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        before = engine.files[REDIS]
        await go_to_finding(app, pilot, "missing_description")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, DescribeDialog) and "Run Redis" in screen_text(app))
        await pilot.press("escape")
        assert engine.files[REDIS] == before
        await pilot.press("w")
        await until(
            pilot, lambda: isinstance(app.screen, DescribeDialog) and "ctrl+g takes" in screen_text(app)
        )
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "+description:" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: engine.files[REDIS] != before)
        note = parse_note(REDIS, engine.files[REDIS])
        assert note.description == "Run Redis with noeviction when it is a queue."
        await until(pilot, lambda: app.history.done)
        await pilot.press("u")
        await until(pilot, lambda: engine.files[REDIS] == before)


async def test_a_prompt_is_answered_and_explained(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("3")
        app.post_message(events.Paste("stable layers first\nprefix cache"))
        await until(pilot, lambda: rows(app, "candidates").keys)
        assert app.screen.query_one(TextArea).text == "stable layers first\nprefix cache"
        await pilot.press("escape")
        shown = screen_text(app)
        assert "● hinted" in shown and "How the score adds up" in shown
        assert "0.7 × " in shown and "What would change it" in shown
        assert "recall" in engine.calls


async def test_ten_notes_are_retagged_and_undone_and_redone(open_dashboard):
    files = {
        f"2026/05/week2/n{at}.md": note_file(f"Note {at}", id=f"mem_{at}", tags=["old"]) for at in range(10)
    }
    engine = FakeEngine(files)
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "A", "t")
        await until(pilot, lambda: isinstance(app.screen, TagDialog))
        await pilot.press(*"Context  Cache")
        await until(pilot, lambda: "#context-cache" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "10 notes will change" in screen_text(app))
        assert engine.files == files
        await pilot.press("enter")
        await until(pilot, lambda: engine.files["2026/05/week2/n9.md"] != files["2026/05/week2/n9.md"])
        assert all(b"context-cache" in data for data in engine.files.values())
        await until(pilot, lambda: app.history.done)
        await pilot.press("u")
        await until(pilot, lambda: engine.files == files)
        await until(pilot, lambda: app.history.undone)
        await pilot.press("U")
        await until(pilot, lambda: all(b"context-cache" in data for data in engine.files.values()))


async def test_a_refused_edit_is_explained_and_the_others_are_made(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "A", "d")
        await until(pilot, lambda: isinstance(app.screen, ToldDialog))
        assert "broken.md" in screen_text(app) and "cannot be edited" in screen_text(app)
        assert parse_note(CACHE, engine.files[CACHE]).status == "deprecated"
        await pilot.press("escape", "u")
        await until(pilot, lambda: parse_note(CACHE, engine.files[CACHE]).status == "active")


async def test_a_change_outside_shows_without_moving_the_cursor(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "down", "down")
        key = rows(app, "memories").key
        engine.put(
            "2026/05/week3/new.md", note_file("Brand new", id="mem_new", description="d", day="2026-05-19")
        )
        await until(pilot, lambda: "Brand new" in screen_text(app))
        assert rows(app, "memories").key == key


async def test_read_only_offers_nothing_that_writes(engine, open_dashboard):
    app = open_dashboard(engine, is_read_only=True)
    before = dict(engine.files)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        assert "read-only" in screen_text(app)
        await go_to_finding(app, pilot, "missing_description")
        await pilot.press("w", "t", "d", "a", "x", "R", "u", "enter")
        await pilot.press("4", "t", "d", "x")
        await pilot.pause()
        assert app.screen is app.dashboard
        assert engine.files == before
