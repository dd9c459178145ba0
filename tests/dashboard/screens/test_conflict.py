"""Notes that share one id, beside each other: each copy where it belongs."""

from __future__ import annotations

import pytest
from textual.notifications import Notify

from tests.dashboard.stage import Stage
from tests.dashboard.steps import ready
from tui.messages import NewIdsAsked, StatusAsked, TrashAsked
from tui.screens.conflict import ConflictScreen, plain_line
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file
from tui.widgets.rows import Rows

FOLDER = "2026/05/week2"


async def comparing(stage: Stage, pilot, shared_id: str) -> ConflictScreen:
    """The screen on the notes that share this id."""
    screen = ConflictScreen(shared_id)
    stage.push_screen(screen)
    await until(pilot, lambda: stage.screen is screen and screen.query_one(Rows).keys)
    return screen


@pytest.mark.parametrize("names", ["ab", "ba", "abc", "cab"])
async def test_each_copy_stands_on_the_same_side_above_and_below(names, monkeypatch):
    files = {f"{name}.md": note_file("Sample", id="same", body=f"only in {name}\n") for name in names}
    engine = FakeEngine(files)
    copies = sorted(engine.copies("same"), key=lambda copy: names.index(copy.path[0]))
    monkeypatch.setattr(engine, "copies", lambda _: tuple(copies))
    stage = Stage(engine=engine)
    async with stage.run_test(size=(140, 40)) as pilot:
        screen = await comparing(stage, pilot, "same")
        for _ in range(len(names) + 1):
            shown = {card.path: str(card.content).split("\n", 1)[0] for card in screen.query("CopyCard")}
            cards = [path for path, role in shown.items() if role]
            titles = [column.title for column in screen.query_one(Rows).columns[1:]]
            assert titles == [f"{shown[path]}: {path}" for path in cards]
            assert sorted(role for role in shown.values() if role) == ["▶ chosen", "◇ compared with"]
            differing = next(pair for pair in screen._compared if pair.left.startswith("only in"))
            assert [differing.left, differing.right] == [f"only in {path[0]}" for path in cards]
            await pilot.press("right")


async def test_three_notes_with_one_id_are_three_rows(open_dashboard):
    files = {f"2026/05/week2/{name}.md": note_file("Sample", id="same", description="d") for name in "abc"}
    app = open_dashboard(FakeEngine(files))
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app, pilot)
        await pilot.press("2", "down", "c")
        await until(
            pilot, lambda: isinstance(app.screen, ConflictScreen) and len(app.screen.query("CopyCard")) == 3
        )
        assert "3 notes" in screen_text(app)


async def test_the_sync_tool_s_copy_is_chosen_first_and_compared_with_one_that_is_not(engine):
    stage = Stage(engine=engine)
    async with stage.run_test(size=(140, 40)) as pilot:
        screen = await comparing(stage, pilot, "mem_gitignore")
        assert screen._chosen == f"{FOLDER}/2026-05-14-gitignore (conflicted copy).md"
        assert screen._base.path == f"{FOLDER}/2026-05-14-gitignore.md"
        await pilot.press("a", "d", "x", "K")
        asked = [stage.told(kind)[0] for kind in (NewIdsAsked, StatusAsked, TrashAsked)]
        assert [message.paths for message in asked] == [[screen._chosen]] * 3
        assert stage.told(TrashAsked)[1].paths == [screen._base.path], "K keeps the chosen one"


async def test_read_only_a_conflict_is_looked_at_and_left(engine):
    stage = Stage(engine=engine, is_read_only=True)
    async with stage.run_test(size=(140, 40)) as pilot:
        await comparing(stage, pilot, "mem_gitignore")
        await pilot.press("a", "d", "x", "K", "c")
        assert not isinstance(stage.screen, ConflictScreen)
        assert not [
            message for kind in (NewIdsAsked, StatusAsked, TrashAsked) for message in stage.told(kind)
        ]


async def test_a_conflict_that_is_resolved_meanwhile_is_left_with_a_notice(engine):
    stage = Stage(engine=engine)
    async with stage.run_test(size=(140, 40)) as pilot:
        screen = await comparing(stage, pilot, "mem_gitignore")
        del engine.files[f"{FOLDER}/2026-05-14-gitignore.md"]
        screen.read_copies()
        await until(pilot, lambda: stage.screen is not screen)
        (said,) = stage.told(Notify)
        assert said.notification.message == "No other note carries the id mem_gitignore any more."


def test_a_line_keeps_its_indent_and_is_shown_harmlessly():
    assert plain_line("\t  a\x1b[31m  b") == "      a[31m b"
