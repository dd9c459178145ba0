"""What a person has begun in a dialog is never lost, and never written unseen, whatever becomes of the note."""

from __future__ import annotations

import pytest

from tests.dashboard.steps import CACHE, REDIS, open_dialog, ready, with_line
from tui.dialogs.describe import DescribeDialog, LineBox
from tui.dialogs.tags import TagDialog
from tui.messages import EditsPlanned
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file, refused
from vaultmem.notes.parse import parse_note

SIZE = (110, 40)
OUTSIDE = "changed outside meanwhile"


async def describing_cache(app, pilot) -> None:
    """Write another description of the note about cache ordering, and wait until its change is shown."""
    await open_dialog(app, pilot, "w", DescribeDialog)
    await pilot.press("ctrl+u", *"My words")
    await until(pilot, lambda: "+description: 'My words'" in screen_text(app))


async def test_a_description_that_was_begun_outlives_a_change_of_its_note(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await describing_cache(app, pilot)
        engine.put(CACHE, with_line(engine.files[CACHE]))
        await until(pilot, lambda: OUTSIDE in screen_text(app))
        assert "A line from Obsidian." in screen_text(app)
        assert app.screen.query_one(LineBox).text == "My words"
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.dashboard)
        assert b"A line from Obsidian." in engine.files[CACHE]
        assert parse_note(CACHE, engine.files[CACHE]).description == "My words"


async def test_a_description_is_not_written_over_one_that_was_not_seen(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await describing_cache(app, pilot)
        theirs = engine.files[CACHE].replace(b"Layers that change", b"THEIR WORDS: layers that change")
        engine.files[CACHE] = theirs  # nobody has told the dashboard yet
        await pilot.press("enter")
        await until(pilot, lambda: OUTSIDE in screen_text(app))
        assert "-description: 'THEIR WORDS" in screen_text(app) and "changed since" in screen_text(app)
        assert engine.files[CACHE] == theirs
        assert app.screen.query_one(LineBox).text == "My words"
        await pilot.press("enter")
        await until(pilot, lambda: parse_note(CACHE, engine.files[CACHE]).description == "My words")


async def describing_redis(app, pilot) -> DescribeDialog:
    """Open the dialog on a note without a description, and wait until it knows which text it shows."""
    await ready(app, pilot)
    await pilot.press("4", "slash", *"redis", "enter", "w")
    await until(pilot, lambda: isinstance(app.screen, DescribeDialog) and app.screen._plan._seen)
    return app.screen


def with_their_description(data: bytes) -> bytes:
    return data.replace(b"tags:", b"description: THEIRS\ntags:")


async def test_a_note_that_changes_while_its_first_description_is_typed_is_shown_before_it_is_written(
    engine, open_dashboard, monkeypatch
):
    # Nothing is planned but by Enter: a pause between two keys would show the news earlier, as it should, and the
    # Enter that follows would be the answer to them.
    monkeypatch.setattr(DescribeDialog, "PLAN_DELAY_S", 3_600)
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await describing_redis(app, pilot)
        engine.files[REDIS] = theirs = with_their_description(engine.files[REDIS])
        await pilot.press(*"Mine", "enter")
        await until(pilot, lambda: OUTSIDE in screen_text(app))
        assert engine.files[REDIS] == theirs and "-description: THEIRS" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: parse_note(REDIS, engine.files[REDIS]).description == "Mine")


async def test_a_pause_in_typing_shows_that_the_note_has_changed(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await describing_redis(app, pilot)
        engine.files[REDIS] = theirs = with_their_description(engine.files[REDIS])
        await pilot.press(*"Mine")
        await until(pilot, lambda: OUTSIDE in screen_text(app))
        assert engine.files[REDIS] == theirs and "-description: THEIRS" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: parse_note(REDIS, engine.files[REDIS]).description == "Mine")


async def test_an_enter_from_before_the_change_outside_was_on_the_screen_writes_nothing(
    engine, open_dashboard, monkeypatch
):
    monkeypatch.setattr(DescribeDialog, "PLAN_DELAY_S", 3_600)
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        dialog = await describing_redis(app, pilot)
        await pilot.press(*"Mine")
        engine.files[REDIS] = theirs = with_their_description(engine.files[REDIS])
        edit = engine.edit_description("mem_redis", "Mine", path=REDIS, dry_run=True)
        # The two are in the queue one behind the other: nothing is drawn between them.
        dialog.on_edits_planned(EditsPlanned((edit,), {}, dialog._plan.asked))
        dialog.action_save()
        await until(pilot, lambda: OUTSIDE in screen_text(app))
        assert app.screen is dialog and "apply" not in engine.calls and engine.files[REDIS] == theirs
        await pilot.press("enter")
        await until(pilot, lambda: parse_note(REDIS, engine.files[REDIS]).description == "Mine")


async def test_of_many_notes_the_one_that_changed_at_the_last_moment_stays_to_be_saved_again(open_dashboard):
    files = {f"n{at}.md": note_file(f"Note {at}", id=f"mem_{at}", tags=["old"]) for at in range(3)}
    engine = FakeEngine(files)
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "A", "t")
        await until(pilot, lambda: isinstance(app.screen, TagDialog))
        await pilot.press(*"new", "enter")
        await until(pilot, lambda: "3 notes will change" in screen_text(app))
        engine.files["n1.md"] = with_line(files["n1.md"])
        await pilot.press("enter")
        await until(pilot, lambda: "1 note will change · ▲ 1 changed outside" in screen_text(app))
        assert b"new" in engine.files["n0.md"] and b"new" in engine.files["n2.md"]
        assert b"new" not in engine.files["n1.md"]
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.dashboard)
        assert b"new" in engine.files["n1.md"] and b"from Obsidian" in engine.files["n1.md"]
        await until(pilot, lambda: len(app.history.done) == 2)
        await pilot.press("u", "u")
        await until(pilot, lambda: engine.files["n0.md"] == files["n0.md"])
        await until(pilot, lambda: engine.files["n1.md"] == with_line(files["n1.md"]))


async def test_a_write_that_fails_keeps_the_draft_and_says_why(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await open_dialog(app, pilot, "w", DescribeDialog)
        await pilot.press("ctrl+u", *"My words")
        engine.failing["apply"] = refused(CACHE)
        await pilot.press("enter")
        await until(pilot, lambda: "cannot be edited: bad_yaml" in screen_text(app))
        assert "+description: 'My words'" in screen_text(app)
        engine.failing.clear()
        await pilot.press("enter")
        await until(pilot, lambda: parse_note(CACHE, engine.files[CACHE]).description == "My words")


@pytest.mark.parametrize(
    ("keys", "kind", "draft", "shows"),
    [
        ("t", TagDialog, ("n", "e", "w", "enter"), ("shift+tab chips", "+ new", "+  - new")),
        ("w", DescribeDialog, ("N", "e", "w"), ("+description: 'Layers", "ctrl+g takes")),
    ],
)
async def test_a_small_window_shows_the_whole_help_and_the_change(
    engine, open_dashboard, keys, kind, draft, shows
):
    app = open_dashboard(engine)
    async with app.run_test(size=(80, 24)) as pilot:
        await open_dialog(app, pilot, keys, kind)
        await pilot.press(*draft)
        await until(pilot, lambda: all(text in screen_text(app) for text in shows))
        assert "esc Cancel" in screen_text(app)


async def test_an_edit_of_a_note_that_vanished_gives_a_message(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "slash", *"stable", "enter", "t")
        await until(pilot, lambda: isinstance(app.screen, TagDialog))
        engine.remove(CACHE)
        await pilot.press(*"new", "enter")
        await until(pilot, lambda: "no note lies at" in screen_text(app))
        assert CACHE not in engine.files
