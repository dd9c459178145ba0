"""What the dashboard says of notes: where a date comes from, which of two namesakes it is, which copy stands where."""

from __future__ import annotations

from datetime import date

import pytest

from tui.models.comparison import side_by_side
from tui.models.shelf import bucket, changed, made, per_week, sorted_notes, told_apart
from tui.screens.conflict import ConflictScreen
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file
from tui.widgets.rows import Rows
from vaultmem.views import NoteView

WITHOUT_DATES = b"---\nid: %s\nname: %s\ndescription: alpha\nstatus: active\n---\n\nBody.\n"


def undated(name: str) -> bytes:
    return WITHOUT_DATES % (name.encode(), name.encode())


def view(path: str, data: bytes | None = None) -> NoteView:
    return FakeEngine({path: data or undated("x")}).notes()[0]


async def ready(app, pilot) -> None:
    await until(pilot, lambda: app.engine is not None and app.dashboard.shelf.notes)


# --- dates


@pytest.mark.parametrize(
    ("path", "day", "origin"),
    [
        ("2026/05/week1/2026-05-03-a.md", date(2026, 5, 3), "file name"),
        ("loose/log 2026-05-03.md", date(2026, 5, 3), "file name"),
        ("2026/05/week3/2026-13-40-a.md", date(2026, 5, 15), "folder"),
        ("2026/05/week3/a.md", date(2026, 5, 15), "folder"),
        ("2026/05/a.md", date(2026, 5, 1), "folder"),
    ],
)
def test_a_date_that_the_metadata_lacks_comes_from_the_file_name_or_the_folder(path, day, origin):
    stamp = made(view(path))
    assert stamp is not None
    assert (stamp.day, stamp.origin) == (day, origin)
    assert changed(view(path)) == stamp


def test_the_metadata_comes_before_the_file_name():
    note = view("2026/05/week1/2026-05-03-a.md", note_file("A", id="a", day="2026-05-14"))
    stamp = made(note)
    assert stamp and (stamp.day, stamp.origin) == (date(2026, 5, 14), "")


@pytest.mark.parametrize("path", ["a.md", "2026/a.md", "12026-05-03.md", "2026/13/week1/a.md"])
def test_a_note_that_no_date_is_known_of_has_none(path):
    assert made(view(path)) is None and changed(view(path)) is None


def test_notes_are_counted_and_sorted_by_the_dates_in_their_file_names():
    notes = [view(path) for path in ("b.md", "2026-05-04-a.md", "2026-05-12-c.md")]
    assert [note.path for note in sorted_notes(notes, "updated", True)] == [
        "2026-05-12-c.md",
        "2026-05-04-a.md",
        "b.md",
    ]
    assert per_week(notes, date(2026, 5, 14), 2) == [(date(2026, 5, 4), 1), (date(2026, 5, 11), 1)]


def test_a_note_in_a_month_without_a_week_lies_in_the_month():
    assert bucket(view("2026/05/a.md")) == "2026/05"
    assert bucket(view("2026/05/2026-05-09-a.md")) == "2026/05/week2"


async def test_the_preview_says_where_a_date_comes_from_and_the_chart_what_has_none(open_dashboard):
    engine = FakeEngine(
        {
            "2026-05-12-named.md": undated("named"),
            "2026/05/week1/folder.md": undated("folder"),
            "nothing.md": undated("nothing"),
            "own.md": note_file("own", id="own", day="2026-05-14"),
        }
    )
    app = open_dashboard(engine)
    async with app.run_test(size=(160, 40)) as pilot:
        await ready(app, pilot)
        await until(pilot, lambda: "Memories per week  1 without a date" in screen_text(app))
        await pilot.press("4")
        for told in (
            "made 2026-05-14, updated 2026-05-14",
            "made 2026-05-12 (by its file name), ",
            "made about 2026-05-01 (by its folder), ",
            "no date, ",
        ):
            await until(pilot, lambda told=told: told in screen_text(app))
            await pilot.press("down")


# --- namesakes


def test_namesakes_are_told_apart_by_file_name_then_id_then_path():
    marks = told_apart(
        [
            ("a/2026-05-01-cache.md", "Cache", "m1"),
            ("a/2026-05-02-cache.md", "Cache", "m2"),
            ("a/note.md", "Note", "m3"),
            ("b/note.md", "Note", "m4"),
            ("a/x.md", "Twin", "m5"),
            ("b/x.md", "Twin", "m5"),
            ("c.md", "Alone", "m6"),
        ]
    )
    assert [mark.text for mark in marks.values()] == [
        "2026-05-01-cache",
        "2026-05-02-cache",
        "m3",
        "m4",
        "a/x.md",
        "b/x.md",
    ]
    assert marks["a/2026-05-02-cache.md"].short == "…02-cache"
    assert "c.md" not in marks


@pytest.mark.parametrize("width", [80, 100, 120])
async def test_two_notes_of_one_name_can_be_told_apart_in_memories_and_in_recall(open_dashboard, width):
    name = "How the context cache is ordered when several layers change"
    files = {
        f"2026/05/week2/2026-05-{day}-cache-order.md": note_file(
            name, id=f"mem_{day}", description="alpha", day=f"2026-05-{day}"
        )
        for day in (11, 12)
    }
    app = open_dashboard(FakeEngine({**files, "c.md": note_file("Alone", id="c", description="alpha")}))
    async with app.run_test(size=(width, 34)) as pilot:
        await ready(app, pilot)
        for keys, table in ((("4",), "memories"), (("3", *"alpha", "escape"), "candidates")):
            await pilot.press(*keys)
            await until(pilot, lambda table=table: len(app.dashboard.query_one(f"#{table}", Rows).keys) == 3)
            rows = app.dashboard.query_one(f"#{table}", Rows)
            lines = [rows.render_line(at).text for at in range(1, 4)]
            assert [sum(f"{day}-" in line for line in lines) for day in (11, 12)] == [1, 1]
            assert [line for line in lines if "Alone" in line and "Alone  c" not in line]


# --- copies


async def conflict(app, pilot, shared_id: str) -> ConflictScreen:
    await ready(app, pilot)
    app.push_screen(ConflictScreen(shared_id))
    await until(pilot, lambda: isinstance(app.screen, ConflictScreen) and app.screen.query_one(Rows).keys)
    return app.screen


@pytest.mark.parametrize("names", ["ab", "ba", "abc", "cab"])
async def test_each_copy_stands_on_the_same_side_above_and_below(open_dashboard, names, monkeypatch):
    files = {f"{name}.md": note_file("Sample", id="same", body=f"only in {name}\n") for name in names}
    engine = FakeEngine(files)
    copies = sorted(engine.copies("same"), key=lambda copy: names.index(copy.path[0]))
    monkeypatch.setattr(engine, "copies", lambda _: tuple(copies))
    app = open_dashboard(engine)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await conflict(app, pilot, "same")
        for _ in range(len(names) + 1):
            shown = {card.path: str(card.content).split("\n", 1)[0] for card in screen.query("CopyCard")}
            cards = [path for path, role in shown.items() if role]
            titles = [column.title for column in screen.query_one(Rows).columns[1:]]
            assert titles == [f"{shown[path]}: {path}" for path in cards]
            assert sorted(role for role in shown.values() if role) == ["▶ chosen", "◇ compared with"]
            differing = next(pair for pair in screen._compared if pair.left.startswith("only in"))
            assert [differing.left, differing.right] == [f"only in {path[0]}" for path in cards]
            await pilot.press("right")


def test_a_comparison_is_the_mirror_of_itself_turned_round():
    pairs = side_by_side("---\na: 1\n---\none\ntwo\n", "---\na: 2\n---\none\n")
    turned = side_by_side("---\na: 2\n---\none\n", "---\na: 1\n---\none\ntwo\n")
    assert [(pair.left, pair.right) for pair in pairs if pair.sign in "~-+"] == [
        (pair.right, pair.left) for pair in turned if pair.sign in "~-+"
    ]
