"""Recall shows what a prompt gives from the best candidate on."""

from __future__ import annotations

import asyncio
import threading

import pytest
from textual.widgets import TextArea

from tests.dashboard.stage import Stage
from tests.dashboard.steps import answered, asked, many_notes
from tui.models.preview import Settings
from tui.models.shelf import Shelf
from tui.panes.recall import RecallPane
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file
from tui.widgets.key_bar import KeyBar
from tui.widgets.rows import Rows

SIZE = (120, 34)


async def test_a_new_prompt_explains_its_best_candidate(open_dashboard):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        table = await asked(app, pilot, "alpha")
        assert table.key == "n00.md"
        await pilot.press(*" beta gamma")
        await answered(app, pilot)
        assert (table.key, table.index, table.scroll_offset.y) == ("n25.md", 0, 0)
        assert "mem_25" in screen_text(app)


async def test_the_best_is_in_sight_after_a_list_was_scrolled_for_another_prompt(open_dashboard):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        table = await asked(app, pilot, "alpha")
        await pilot.press("escape", "end")
        await until(pilot, lambda: table.scroll_offset.y > 0)
        await pilot.press("3", *" beta")
        await answered(app, pilot)
        assert (table.index, table.scroll_offset.y) == (0, 0)


async def test_the_first_hint_is_explained_though_a_note_in_conflict_is_nearer(open_dashboard):
    engine = many_notes()
    for name in ("a.md", "b.md"):
        engine.files[name] = note_file("Twin", id="twin", description="alpha beta gamma")
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        table = await asked(app, pilot, "alpha beta gamma")
        assert list(table.keys[:3]) == ["a.md", "b.md", "n25.md"]
        assert table.key == "n25.md" and table.scroll_offset.y == 0


async def test_a_row_that_was_chosen_by_hand_stays_when_only_a_setting_changes(open_dashboard):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        table = await asked(app, pilot, "alpha beta")
        await pilot.press("escape", "down", "down")
        key = table.key
        await pilot.press("right_square_bracket", "plus", "p", *"march", "enter")
        await answered(app, pilot)
        assert table.key == key == "n28.md"
        app.dashboard.pane("recall").ask_again()  # as after a change in the vault
        await answered(app, pilot)
        assert table.key == key


async def test_a_row_that_is_chosen_while_an_answer_is_under_way_stays(open_dashboard, monkeypatch):
    engine = many_notes()
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        table = await asked(app, pilot, "alpha")
        may_answer, recall = threading.Event(), engine.recall

        def slow_recall(query: str, **settings: object) -> object:
            may_answer.wait(20)
            return recall(query, **settings)

        monkeypatch.setattr(engine, "recall", slow_recall)
        await pilot.press("space", "escape", "down", "down", "down")
        key = table.key
        may_answer.set()
        await until(pilot, lambda: not app.dashboard.pane("recall")._is_asking)
        await asyncio.sleep(0)
        assert table.key == key == "n03.md"


@pytest.mark.parametrize(
    "field", ["#prompt", "#threshold", "#limit", "#turn", "#show", "#project", "#explanation"]
)
async def test_escape_leads_from_every_field_to_the_results(field):
    engine = many_notes()
    pane = RecallPane(id="recall-pane", settings=Settings(), stopwatch=lambda: 0.0)
    stage = Stage(pane, KeyBar(), engine=engine)
    async with stage.run_test(size=SIZE) as pilot:
        pane.show_shelf(Shelf.of(engine.notes()))
        pane.query_one(TextArea).text = "alpha"
        table = stage.query_one("#candidates", Rows)
        await until(pilot, lambda: table.keys)
        stage.screen.set_focus(stage.query_one(field))
        await pilot.pause()
        assert "esc To the results" in screen_text(stage).splitlines()[-1]
        await pilot.press("escape")
        assert table.has_focus
        await until(pilot, lambda: "esc To the results" not in screen_text(stage).splitlines()[-1])


async def test_the_key_of_the_recall_tab_always_leads_to_the_prompt(open_dashboard):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        await asked(app, pilot, "alpha")
        prompt = app.dashboard.query_one(TextArea)
        for keys in (("f4", "3"), ("escape", "3"), ("f5", "f3"), ("f3",)):
            await pilot.press(*keys)
            assert prompt.has_focus
        assert prompt.text == "alpha"


async def test_a_note_whose_status_is_no_known_word_is_not_called_deprecated(open_dashboard):
    engine = FakeEngine({"a.md": note_file("A", id="a", description="alpha", status="archived")})
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await asked(app, pilot, "alpha")
        shown = screen_text(app)
        assert "× not active" in shown and "deprecated" not in shown
        assert "only a note with status: active is recalled" in " ".join(shown.split())
