"""Recall shows what a prompt gives from the best candidate on, and each field of it can be left."""

from __future__ import annotations

import asyncio
import threading

import pytest
from textual.widgets import Input, TextArea

from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file
from tui.widgets.dial import Dial
from tui.widgets.rows import Rows

SIZE = (120, 34)


def many_notes() -> FakeEngine:
    """Thirty notes with the word alpha, three of them with beta, one of these with gamma too."""
    extra = {20: "beta", 25: "beta gamma", 28: "beta"}
    return FakeEngine(
        {
            f"n{at:02}.md": note_file(
                f"Note {at:02}", id=f"mem_{at:02}", description=f"alpha {extra.get(at, '')}".strip()
            )
            for at in range(30)
        }
    )


async def asked(app, pilot, prompt: str) -> Rows:
    """Type a prompt and wait for its answer."""
    await until(pilot, lambda: app.engine is not None and app.dashboard.shelf.notes)
    await pilot.press("3", *prompt)
    table = app.dashboard.query_one("#candidates", Rows)
    await answered(app, pilot)
    return table


async def answered(app, pilot) -> None:
    pane = app.dashboard.pane("recall")
    prompt = pane.query_one(TextArea)
    await until(
        pilot,
        lambda: not pane._is_asking and not pane._is_stale and not pane._wants_best and prompt.text,
    )


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
async def test_escape_leads_from_every_field_to_the_results(open_dashboard, field):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        table = await asked(app, pilot, "alpha")
        app.screen.set_focus(app.dashboard.query_one(field))
        await pilot.pause()
        assert "esc To the results" in screen_text(app).splitlines()[-1]
        await pilot.press("escape")
        assert table.has_focus
        assert "esc To the results" not in screen_text(app).splitlines()[-1]


async def test_escape_in_a_setting_changes_nothing(open_dashboard):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        await asked(app, pilot, "alpha")
        before = [dial.value for dial in app.dashboard.query(Dial)]
        await pilot.press("escape", "p", *"x1", "escape")
        assert app.dashboard.query_one("#project", Input).value == "x1"
        assert [dial.value for dial in app.dashboard.query(Dial)] == before


# --- from tab to tab


async def test_the_key_of_the_recall_tab_always_leads_to_the_prompt(open_dashboard):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        await asked(app, pilot, "alpha")
        prompt = app.dashboard.query_one(TextArea)
        for keys in (("f4", "3"), ("escape", "3"), ("f5", "f3"), ("f3",)):
            await pilot.press(*keys)
            assert prompt.has_focus
        assert prompt.text == "alpha"


async def test_the_function_keys_reach_every_tab_from_every_box(open_dashboard):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        await asked(app, pilot, "al4?q")
        assert app.dashboard.query_one(TextArea).text == "al4?q"
        line = screen_text(app).splitlines()[-1]
        assert "f1–f5 Tabs" in line and "f8 Help" in line and "^q Quit" in line
        for at, tab in enumerate(("overview", "diagnostics", "recall", "memories", "activity"), 1):
            await pilot.press(f"f{at}")
            assert app.dashboard.query_one("#panes").current == f"{tab}-pane"
            await pilot.press("slash")
        await pilot.press("f8")
        await until(pilot, lambda: app.screen is not app.dashboard)


@pytest.mark.parametrize("tab", ["2", "4", "5"])
async def test_a_filter_says_how_it_is_left(open_dashboard, tab):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.engine is not None and app.dashboard.shelf.notes)
        await pilot.press(tab, "slash")
        assert "esc To the list" in screen_text(app).splitlines()[-1]
        await pilot.press("z")
        line = screen_text(app).splitlines()[-1]
        assert "esc Clear" in line and "⏎ To the list" in line
        await pilot.press("escape", "escape")
        pane = app.dashboard.pane({"2": "diagnostics", "4": "memories", "5": "activity"}[tab])
        assert pane.query_one(pane.LIST).has_focus


async def test_escape_leads_from_the_parts_of_a_tab_to_its_list(open_dashboard):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.engine is not None and app.dashboard.shelf.notes)
        for part in ("#preview", "#places", "#tabs"):
            await pilot.press("4", "slash", *"note", "enter")
            app.screen.set_focus(app.dashboard.query_one(part))
            await pilot.press("escape")
            assert app.dashboard.query_one("#memories", Rows).has_focus
            assert app.dashboard.query_one("#memories-filter Input", Input).value.endswith("note")


# --- words


async def test_a_note_whose_status_is_no_known_word_is_not_called_deprecated(open_dashboard):
    engine = FakeEngine({"a.md": note_file("A", id="a", description="alpha", status="archived")})
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await asked(app, pilot, "alpha")
        shown = screen_text(app)
        assert "× not active" in shown and "deprecated" not in shown
        assert "only a note with status: active is recalled" in " ".join(shown.split())
