"""The dashboard on the real engine: a vault on disk, changes made beside it, two dashboards at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tui.app import VaultmemApp
from tui.dialogs.tags import TagDialog
from tui.looks.preferences import Preferences
from tui.screens.failed import FailedScreen
from tui.testing.driving import screen_text, until
from tui.testing.notes import note_file
from tui.widgets.rows import Rows
from vaultmem import Engine
from vaultmem.testing import HashingEmbedder

SIZE = (110, 34)
Open = Callable[..., VaultmemApp]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault" / "March Memories"
    week = folder / "2026/05/week2"
    week.mkdir(parents=True)
    (tmp_path / "vault" / ".obsidian").mkdir()
    for at in range(10):
        (week / f"n{at}.md").write_bytes(
            note_file(
                f"Note {at}",
                id=f"mem_{at}",
                description="caching layers" if at else "",
                tags=["old"],
                body=f"Body {at}: stable layers stand first.\n",
            )
        )
    return folder


@pytest.fixture
def open_app(root: Path, tmp_path: Path) -> Open:
    opened: list[VaultmemApp] = []

    def make(*, read_only: bool = False) -> VaultmemApp:
        def open_engine() -> Engine:
            state = tmp_path / "state"
            return Engine.open(root, state, HashingEmbedder(), hold=not read_only, watch=True)

        app = VaultmemApp(
            open_engine, root=root, is_read_only=read_only, preferences=Preferences(tmp_path / "tui.json")
        )
        app.animation_level = "none"
        opened.append(app)
        return app

    return make


async def ready(app: VaultmemApp, pilot) -> None:
    await until(pilot, lambda: app.engine is not None and app.dashboard.shelf.notes, seconds=60)


def tags_on_disk(root: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(root.rglob("*.md"))]


async def test_ten_real_notes_are_retagged_and_undone(root, open_app):
    app = open_app()
    before = tags_on_disk(root)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "A", "t")
        await until(pilot, lambda: isinstance(app.screen, TagDialog))
        await pilot.press(*"new", "enter")
        await until(pilot, lambda: "10 notes will change" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: all(b"new" in data for data in tags_on_disk(root)))
        await until(pilot, lambda: app.history.done)
        await until(pilot, lambda: app.dashboard.shelf.tag_uses.get("new") == 10)
        await pilot.press("u")
        await until(pilot, lambda: tags_on_disk(root) == before)
    app.close_engine()


async def test_a_change_in_obsidian_shows_and_the_cursor_stays(root, open_app):
    app = open_app()
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "down", "down")
        table = app.screen.query_one("MemoriesPane Rows", Rows)
        key = table.key
        (root / "2026/05/week2/fresh.md").write_bytes(note_file("Fresh note", id="mem_f", description="d"))
        await until(pilot, lambda: "Fresh note" in screen_text(app), seconds=15)
        assert table.key == key
        (root / "2026/05/week2/fresh.md").unlink()
        await until(pilot, lambda: "Fresh note" not in screen_text(app), seconds=15)
    app.close_engine()


async def test_a_note_that_is_edited_outside_is_shown_as_it_is_now_before_it_is_written(root, open_app):
    app = open_app()
    path = root / "2026/05/week2/n3.md"
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "slash", *"n3.md", "enter", "t")
        await until(
            pilot, lambda: isinstance(app.screen, TagDialog) and "nothing changes" in screen_text(app)
        )
        path.write_bytes(path.read_bytes() + b"from Obsidian\n")
        outside = path.read_bytes()
        await pilot.press(*"new", "enter")
        await until(pilot, lambda: "changed outside" in screen_text(app))
        assert path.read_bytes() == outside
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.dashboard)
        assert path.read_bytes().endswith(b"from Obsidian\n") and b"new" in path.read_bytes()
    app.close_engine()


async def test_a_prompt_is_answered_and_explained_by_the_real_engine(root, open_app):
    app = open_app()
    async with app.run_test(size=(140, 50)) as pilot:
        await ready(app, pilot)
        await pilot.press("3", *"stable layers", "escape")
        await until(pilot, lambda: "How the score adds up" in screen_text(app), seconds=60)
        await until(pilot, lambda: "no description" in screen_text(app) or "hinted" in screen_text(app))
    app.close_engine()


async def test_of_two_dashboards_one_writes_and_the_other_follows(root, open_app):
    first, second = open_app(), open_app()
    async with first.run_test(size=SIZE) as one:
        await ready(first, one)
        async with second.run_test(size=SIZE) as two:
            await ready(second, two)
            await until(one, lambda: "writes here" in screen_text(first))
            await until(two, lambda: "follows writer" in screen_text(second))
            (root / "2026/05/week2/fresh.md").write_bytes(
                note_file("Fresh note", id="mem_f", description="d")
            )
            await until(
                two, lambda: "mem_f" in {note.id for note in second.dashboard.shelf.notes}, seconds=15
            )
        second.close_engine()
    first.close_engine()


async def test_a_root_that_is_missing_is_said(tmp_path, root, open_app):
    root.rename(root.with_name("elsewhere"))
    app = open_app()
    async with app.run_test(size=SIZE) as pilot:
        await until(
            pilot,
            lambda: isinstance(app.screen, FailedScreen) or "memory folder missing" in screen_text(app),
            seconds=30,
        )
        root.with_name("elsewhere").rename(root)
        await until(pilot, lambda: app.engine and len(app.dashboard.shelf.notes) == 10, seconds=30)
    app.close_engine()


async def test_a_trashed_note_lies_in_the_vaults_trash_and_comes_back(root, open_app):
    app = open_app()
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await pilot.press("4", "slash", *"n4.md", "enter", "x", "y")
        await until(pilot, lambda: not (root / "2026/05/week2/n4.md").exists())
        assert list((root.parent / ".trash").rglob("n4*.md"))
        await until(pilot, lambda: app.history.done)
        await pilot.press("u")
        await until(pilot, lambda: (root / "2026/05/week2/n4.md").exists())
    app.close_engine()


async def test_read_only_changes_no_note(root, open_app):
    app = open_app(read_only=True)
    before = tags_on_disk(root)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.engine is not None)
        await pilot.press("4", "A", "d", "x", "t", "R")
        assert app.screen is app.dashboard
        assert tags_on_disk(root) == before
    app.close_engine()
