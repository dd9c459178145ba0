"""The dashboard never dies: hostile text, tiny and huge windows, wide characters, input methods, no colour."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual import events
from textual.widgets import Input, TextArea

from tests.dashboard.steps import ready
from tui.app import VaultmemApp
from tui.dialogs.tags import TagDialog
from tui.screens.conflict import ConflictScreen
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file
from tui.widgets.rows import Rows
from vaultmem.errors import StoreError

CASES = Path(__file__).parents[3] / "shared" / "cases"

HOSTILE = (
    "[/]",
    "[/red] x",
    "note [x] done",
    "[red]alert",
    "[[wiki link]]",
    "[@click=app.quit]boom[/]",
    "[#tag]",
    "a[b=c]d",
    "[b]未闭合",
    "[link=file:///etc/passwd]y[/link]",
    "\\[x]",
    "[todo",
)
WIDE = "👨‍👩‍👧‍👦家庭🇨🇳 e\u0301 ＡＢ ⚠️ 很长很长很长很长很长很长很长很长很长很长很长很长的名字"
DIALOG_KEYS = ("t", "w", "R", "x", "question_mark", "T", "ctrl+p")


def hostile_engine() -> FakeEngine:
    return FakeEngine(
        {
            f"2026/05/week2/m{at} {text.replace('/', '')}.md": note_file(
                text, id=f"mk{at}", description=f"{text} 说明", tags=["cache"], body=text
            )
            for at, text in enumerate(HOSTILE)
        }
    )


def is_covered(app: VaultmemApp) -> bool:
    """Whether the notice is all that is seen."""
    notices = app.screen.query("#too-small")
    return bool(notices) and notices.first().display


async def test_square_brackets_are_shown_as_they_are(open_dashboard):
    engine = hostile_engine()
    app = open_dashboard(engine)
    async with app.run_test(size=(140, 45)) as pilot:
        await ready(app, pilot)
        await pilot.press("4")
        await until(pilot, lambda: "[/red] x" in screen_text(app))
        shown = screen_text(app)
        assert [text for text in HOSTILE if text not in shown] == []
        for _ in HOSTILE:  # every note in the preview, with its Markdown
            await pilot.press("down")
        await pilot.press("A", "t")
        await until(pilot, lambda: isinstance(app.screen, TagDialog))
        await pilot.press(*"[/x", "escape", "escape")
        engine.failing["read_note"] = StoreError("[red]torn[/] [/]", advice="[@click=app.quit]run[/]")
        await pilot.press("up", "r")
        await until(pilot, lambda: "[red]torn[/] [/]" in screen_text(app))
        assert app.is_running


async def test_text_from_a_note_starts_no_action(open_dashboard):
    engine = FakeEngine(
        {"a.md": note_file("[@click=app.quit]boom[/]", id="m", description="[@click=app.quit]d[/]")}
    )
    app = open_dashboard(engine)
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app, pilot)
        await pilot.press("4")
        await until(pilot, lambda: "boom" in screen_text(app))
        for y, line in enumerate(screen_text(app).splitlines()):
            if "boom" in line:
                await pilot.click(offset=(cell_len(line[: line.index("boom")]), y))
        assert app.is_running and app.screen is app.dashboard


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (250, 60)])
async def test_any_window_opens_every_tab_and_dialog(engine, open_dashboard, size):
    app = open_dashboard(engine)
    async with app.run_test(size=size) as pilot:
        await ready(app, pilot)
        for tab in "12345":
            await pilot.press(tab, "down")
            if tab == "3":
                await pilot.press("c", "escape")
        await pilot.press("4")
        for key in DIALOG_KEYS:
            await pilot.press(key)
            await pilot.press("escape")
        app.push_screen(ConflictScreen("mem_gitignore"))
        await until(pilot, lambda: isinstance(app.screen, ConflictScreen) and app.screen.query_one(Rows).keys)
        await pilot.press("escape")
        assert app.screen is app.dashboard and not is_covered(app)


async def test_a_window_that_is_resized_keeps_its_place(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "down", "down", "down")
        key = app.dashboard.query_one("MemoriesPane Rows", Rows).key
        for size in ((80, 24), (1, 1), (250, 60), (60, 15), (120, 40)):
            await pilot.resize_terminal(*size)
        assert app.dashboard.query_one("MemoriesPane Rows", Rows).key == key
        assert key and "Redis" in screen_text(app)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (160, 40)])
async def test_wide_joined_and_zero_width_characters_are_cut_by_cells(open_dashboard, size):
    files = {
        "2026/05/week2/w.md": note_file(WIDE, id="wide", description=WIDE, tags=["缓存", "cache"]),
        "2026/05/week2/n.md": note_file("Narrow", id="narrow", description="d", tags=["cache"]),
    }
    app = open_dashboard(FakeEngine(files))
    async with app.run_test(size=size) as pilot:
        await ready(app, pilot)
        await pilot.press("4")
        table = app.dashboard.query_one("MemoriesPane Rows", Rows)
        await until(pilot, lambda: table.keys)
        strips = [table.render_line(y) for y in range(3)]
        assert {strip.cell_length for strip in strips} == {table.scrollable_content_region.width}
        cells = [strip.text for strip in strips[1:]]
        column = [cell_len(text[: text.index("cache")]) for text in cells if "cache" in text]
        statuses = [cell_len(text[: text.index("● active")]) for text in cells if "● active" in text]
        assert len(set(statuses)) <= 1 and column
        assert all(cell_len(line) == size[0] for line in screen_text(app).splitlines())


async def test_a_phrase_from_an_input_method_arrives_whole(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "slash")
        app.post_message(events.Paste("缓存架构"))
        filter_box = app.dashboard.query_one("#memories-filter Input", Input)
        await until(pilot, lambda: filter_box.value == "缓存架构")
        await pilot.press("escape", *"缓存架构")
        assert filter_box.value == "缓存架构"
        await pilot.press("escape", "escape", "t")
        await until(pilot, lambda: isinstance(app.screen, TagDialog))
        app.post_message(events.Paste("缓存架构"))
        await until(pilot, lambda: app.screen.query_one(Input).value == "缓存架构")
        await pilot.press("escape", "3", *"缓存")
        app.post_message(events.Paste("架构\n第二行"))
        await until(pilot, lambda: app.dashboard.query_one(TextArea).text == "缓存架构\n第二行")


async def test_an_empty_vault_says_what_to_do(open_dashboard):
    app = open_dashboard(FakeEngine())
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "No notes yet" in screen_text(app))
        await pilot.press("2", "3", "escape", "4", "t", "x", "enter", "5", "A", "space")
        assert app.is_running


async def test_without_colour_everything_is_still_said(engine, open_dashboard, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    app = open_dashboard(engine)
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app, pilot)
        shown = screen_text(app)
        assert "✖ error" in shown and "▲ warning" in shown and "● idle" in shown


async def test_the_mouse_does_what_the_keys_do(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app, pilot)
        await pilot.click("#tab-memories")
        await until(pilot, lambda: app.dashboard.query_one("#panes").current == "memories-pane")
        table = app.dashboard.query_one("MemoriesPane Rows", Rows)
        await until(pilot, lambda: table.keys)
        await pilot.click(table, offset=(10, 3))
        assert table.index == 2
        await pilot.click(table, offset=(0, 2))
        assert table.marked == {table.keys[1]}
        await pilot.click(table, offset=(5, 0))
        assert table.sort_mark == ("name", False)
        await pilot.click("KeyBar", offset=(app.size.width - 12, 0))
        await until(pilot, lambda: app.screen is not app.dashboard)


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases lie outside the project")
@pytest.mark.parametrize("case", ["tx-markup", "tx-dup-key", "tx-wide-cells"])
async def test_the_cases_vaults_are_shown(open_dashboard, case, tmp_path):
    from vaultmem import Engine
    from vaultmem.testing import HashingEmbedder

    root = tmp_path / "vault" / "March Memories"
    shutil.copytree(CASES / case / "vault" / "March Memories", root)

    def open_engine():
        return Engine.open(root, tmp_path / "state", HashingEmbedder(), hold=True, watch=True)

    app = open_dashboard(open_engine)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.engine is not None and app.dashboard.shelf.notes)
        await pilot.press("4", "down", "2", "down", "down", "5", "1")
        assert len(app.dashboard.shelf.notes) == len(list(root.rglob("*.md")))
    app.close_engine()
