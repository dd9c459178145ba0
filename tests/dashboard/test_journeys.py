"""The ways through the dashboard that a person takes, by keys, on an engine in memory."""

from __future__ import annotations

import pytest
from textual import events
from textual.widgets import Input, Static, TextArea

from tui.app import VaultmemApp
from tui.dialogs.confirm import ConfirmDialog
from tui.dialogs.describe import DescribeDialog
from tui.dialogs.hint_lines import HintLinesDialog
from tui.dialogs.rename_tag import RenameTagDialog
from tui.dialogs.tags import TagDialog
from tui.dialogs.told import ToldDialog
from tui.panes.diagnostics import DiagnosticsPane
from tui.panes.memories import MemoriesPane
from tui.screens.conflict import ConflictScreen
from tui.screens.failed import FailedScreen
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import NOW, note_file, refused
from tui.widgets.rows import Rows
from vaultmem.errors import RootMissingError, StoreError
from vaultmem.events import EmbeddingProgress, EngineFailed, LockChanged
from vaultmem.notes.parse import parse_note

SIZE = (110, 34)
REDIS = "2026/05/week2/2026-05-14-redis.md"
CACHE = "2026/05/week2/2026-05-11-cache-order.md"


def rows(app: VaultmemApp, name: str) -> Rows:
    return app.screen.query_one(f"#{name}", Rows)


async def ready(app: VaultmemApp, pilot) -> None:
    await until(pilot, lambda: app.engine is not None and app.dashboard.shelf.notes)
    await until(pilot, lambda: "idle" in screen_text(app))


async def go_to_finding(app: VaultmemApp, pilot, text: str) -> None:
    """Filter the diagnostics and put the cursor on the first finding."""
    await pilot.press("2", "slash", *text, "enter", "down")
    await until(pilot, lambda: app.screen.query_one(DiagnosticsPane).chosen())


# --- triage a conflict


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


# --- add a description


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


async def test_what_was_typed_last_is_what_is_saved(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await go_to_finding(app, pilot, "missing_description")
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, DescribeDialog))
        await pilot.press(*"Redis -/+", "enter")
        await until(pilot, lambda: parse_note(REDIS, engine.files[REDIS]).description == "Redis -/+")


# --- preview a prompt


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


async def test_settings_change_the_answer_at_once(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("3", *"cache stable layers", "escape")
        await until(pilot, lambda: "hinted" in screen_text(app))
        await pilot.press(*["right_square_bracket"] * 10)
        await until(pilot, lambda: "short of the threshold" in screen_text(app))
        await pilot.press("h")
        await until(pilot, lambda: "no hint; h shows" in screen_text(app))


async def test_an_assistant_turn_does_not_repeat_what_the_user_turn_gave(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("3", *"stable layers", "escape")
        await until(pilot, lambda: "● hinted" in screen_text(app))
        await pilot.press("v")
        await until(pilot, lambda: "◐ given" in screen_text(app))
        assert "limit ‹ 2 ›" in screen_text(app)


async def test_the_exact_hint_lines_are_shown_and_copied(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("3", *"stable layers", "escape")
        await until(pilot, lambda: "● hinted" in screen_text(app))
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, HintLinesDialog))
        assert "- mem_cache_order | score=" in screen_text(app)
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard.startswith("[recall]\n- mem_cache_order | score="))


# --- retag notes and undo


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


async def test_chips_and_completion_lead_to_the_same_edit(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "slash", *"#cache stable", "enter", "t")
        await until(pilot, lambda: isinstance(app.screen, TagDialog))
        await pilot.press(*"obs", "down", "enter", "shift+tab", "space", "ctrl+s")
        await until(
            pilot, lambda: parse_note(CACHE, engine.files[CACHE]).tags == ("project/march", "obsidian")
        )


async def test_a_tag_is_renamed_over_the_vault_with_a_preview(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("R")
        await until(pilot, lambda: isinstance(app.screen, RenameTagDialog))
        await pilot.press(*"project", "enter", *"proj")
        await until(pilot, lambda: "2 notes will change" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "proj/march" in engine.tags())


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


# --- a change made outside


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


# --- who writes, what fails


async def test_beside_another_writer_it_follows_and_says_so(engine, open_dashboard):
    engine.is_writer = False
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await until(pilot, lambda: "follows writer 4242" in screen_text(app))
        engine.is_writer = True
        engine.tell(LockChanged(NOW, is_writer=True))
        await until(pilot, lambda: "writes here" in screen_text(app))


async def test_an_engine_that_fails_to_start_is_said_and_tried_again(engine, open_dashboard):
    tries = iter([RootMissingError("the memory root /x is gone", advice="Mount it."), None])

    def open_engine() -> FakeEngine:
        if error := next(tries):
            raise error
        return engine

    app = open_dashboard(open_engine)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, FailedScreen))
        assert "the memory root /x is gone" in screen_text(app) and "Mount it." in screen_text(app)
        await pilot.press("r")
        await ready(app, pilot)


@pytest.mark.parametrize("call", ["notes", "diagnostics", "status", "freshness", "read_note", "recall"])
async def test_a_failing_call_becomes_a_message_and_the_rest_goes_on(engine, open_dashboard, call):
    engine.failing[call] = StoreError("the catalog is torn [/]", advice="Run `vaultmem sync`.")
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: call in engine.calls or app.engine)
        await pilot.press("4", "2", "3", *"cache", "escape")
        await until(pilot, lambda: call in engine.calls)
        await pilot.pause(0.1)
        engine.failing.clear()
        await pilot.press("5", "1", "2", "r")
        await until(pilot, lambda: "idle" in screen_text(app))
        assert app.is_running


async def test_embedding_shows_how_far_it_is(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        engine.state = "embedding"
        engine.tell(EmbeddingProgress(NOW, 120, 480, 42.0))
        await until(pilot, lambda: "120/480" in screen_text(app))
        assert "about 42 s left" in screen_text(app) and "━" in screen_text(app)


async def test_a_failure_of_the_engine_shows_in_the_activity(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        engine.tell(EngineFailed(NOW, "the model [bold]cannot[/] be loaded", "Set VAULTMEM_EMBEDDER=none."))
        await until(pilot, lambda: "degraded" in screen_text(app))
        await pilot.press("5")
        await until(pilot, lambda: "the model [bold]cannot[/] be loaded" in screen_text(app))


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


async def test_the_theme_is_remembered(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        app.theme = "vaultmem-light"
        await pilot.pause()
        assert app.preferences.theme() == "vaultmem-light"


async def test_several_findings_of_one_code_are_mended_at_once(open_dashboard):
    engine = FakeEngine({f"2026/05/week2/loose{at}.md": note_file(f"Loose {at}") for at in range(4)})
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await go_to_finding(app, pilot, "missing_id")
        await pilot.press("A", "a")
        await until(pilot, lambda: all(note.id for note in engine.notes()))


async def test_the_note_of_a_broken_block_opens_in_the_editor_at_its_line(
    engine, open_dashboard, monkeypatch
):
    opened: list[tuple[str, int | None]] = []
    monkeypatch.setattr(
        "tui.requests.leave.open_in_editor", lambda app, path, line: opened.append((path.name, line))
    )
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await go_to_finding(app, pilot, "bad_yaml")
        await until(pilot, lambda: "╰─" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: opened)
        assert opened[0][0] == "broken.md" and opened[0][1]


async def test_the_palette_knows_the_commands(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("ctrl+p", *"rename", "enter")
        await until(pilot, lambda: isinstance(app.screen, RenameTagDialog))


async def test_a_filter_keeps_every_character_from_the_shortcuts(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "slash", *"q-u/t+1?")
        assert app.screen.query_one("#memories-filter Input", Input).value == "q-u/t+1?"
        assert app.screen.query_one(MemoriesPane).display


async def test_an_edit_that_is_refused_stays_in_the_dialog_with_its_reason(engine, open_dashboard):
    engine.failing["edit_tags"] = refused(CACHE)
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "slash", *"stable", "enter", "t")
        await until(pilot, lambda: isinstance(app.screen, TagDialog) and "bad_yaml" in screen_text(app))
        await pilot.press("enter")
        assert isinstance(app.screen, TagDialog)
        assert "1 refused" in str(app.screen.query_one("#plan-summary", Static).content)
