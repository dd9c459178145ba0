"""A table whose cursor belongs to a key: it stays where it is when rows come and go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from tests.dashboard.stage import Stage
from tui.testing.driving import screen_text, until
from tui.widgets.columns import Column
from tui.widgets.rows import Rows

NAMES = [f"n{at:02}" for at in range(30)]


def table(**options: object) -> Rows:
    columns = [Column("name", 10, share=1, key="name"), Column("n", 4, key="n")]
    return Rows(columns, id="rows", **options)  # type: ignore[arg-type]


def fill(rows: Rows, keys: list[str], **options: object) -> None:
    rows.fill(keys, lambda index: (keys[index], str(index)), **options)  # type: ignore[arg-type]


async def test_the_cursor_goes_by_lines_by_pages_and_to_the_ends_and_no_further():
    rows = table()
    stage = Stage(rows)
    async with stage.run_test(size=(40, 11)) as pilot:
        fill(rows, NAMES)
        ways = (
            ("j", 1),
            ("down", 2),
            ("k", 1),
            ("pagedown", 10),
            ("G", 29),
            ("down", 29),
            ("home", 0),
            ("up", 0),
        )
        for key, index in ways:
            await pilot.press(key)
            assert rows.index == index
            assert rows.scroll_offset.y <= index < rows.scroll_offset.y + 10


async def test_the_cursor_stays_on_its_key_and_the_key_on_its_line():
    rows = table()
    stage = Stage(rows)
    async with stage.run_test(size=(40, 11)) as pilot:
        fill(rows, NAMES)
        rows.go_to("n20")
        await until(pilot, lambda: rows.scroll_offset.y == 11)
        fill(rows, ["new", *NAMES])
        await pilot.pause()
        assert (rows.key, rows.index, rows.scroll_offset.y) == ("n20", 21, 12)
        fill(rows, [name for name in NAMES if name != "n20"])
        await pilot.pause()
        assert (rows.key, rows.index) == ("n22", 21), "its place in the order"
        fill(rows, NAMES, key="n05", is_from_top=True)
        await pilot.pause()
        assert (rows.key, rows.scroll_offset.y) == ("n05", 0)
        assert not rows.go_to("gone") and rows.key == "n05"
    moved = stage.told(Rows.Moved)
    assert [message.is_from_fill for message in moved] == [True, False, True, True, True]
    assert moved[-1].key == "n05"


async def test_marks_go_with_their_rows_and_are_told_in_the_order_of_the_table():
    rows = table(can_mark=True)
    stage = Stage(rows)
    async with stage.run_test() as pilot:
        fill(rows, ["a", "b", "c", "d"])
        assert rows.chosen_keys() == ("a",)
        await pilot.press("down", "down", "shift+down", "up", "up", "up", "space")
        assert rows.chosen_keys() == ("a", "c", "d") and rows.key == "b"
        fill(rows, ["d", "a"])
        assert rows.chosen_keys() == ("d", "a")
        rows.mark_all()
        assert not rows.marked, "all were marked"
        rows.mark_all()
        assert rows.chosen_keys() == ("d", "a")
        rows.clear_marks()
        rows.mark(["a"])
        await until(pilot, lambda: "✓" in screen_text(stage))
        assert len(stage.told(Rows.Marked)) == 7


async def test_a_table_without_marks_takes_none():
    rows = table()
    stage = Stage(rows)
    async with stage.run_test() as pilot:
        fill(rows, ["a", "b"])
        await pilot.press("space", "shift+down", "enter")
        assert (rows.marked, rows.index) == (set(), 0)
        assert [message.key for message in stage.told(Rows.Chosen)] == ["a"]


async def test_an_empty_table_says_so_and_tells_nothing_chosen():
    rows = table(can_mark=True, empty="no [notes]")
    stage = Stage(rows)
    async with stage.run_test() as pilot:
        fill(rows, [])
        await pilot.press("enter", "space", "shift+down", "G")
        await until(pilot, lambda: "no [notes]" in screen_text(stage))
        assert rows.key is None and rows.chosen_keys() == ()
        assert not stage.told(Rows.Chosen) and not stage.told(Rows.Marked)


async def test_a_click_moves_a_second_one_chooses_one_at_the_edge_marks_and_one_on_a_title_sorts():
    rows = table(can_mark=True)
    stage = Stage(rows)
    async with stage.run_test(size=(40, 11)) as pilot:
        fill(rows, ["a", "b", "c"])
        await pilot.click(rows, offset=(10, 2))
        assert (rows.key, stage.told(Rows.Chosen)) == ("b", [])
        await pilot.click(rows, offset=(10, 3), times=2)
        assert [message.key for message in stage.told(Rows.Chosen)] == ["c"]
        await pilot.click(rows, offset=(0, 1))
        assert (rows.key, rows.marked) == ("a", {"a"})
        await pilot.click(rows, offset=(4, 0))
        await pilot.click(rows, offset=(38, 0))
        await pilot.click(rows, offset=(10, 9))
        assert [message.key for message in stage.told(Rows.HeaderClicked)] == ["name", "n"]
        assert rows.key == "a"


async def test_only_the_rows_on_the_screen_are_drawn_and_a_heading_takes_the_whole_width():
    rows = table(has_header=False)
    drawn: set[int] = set()
    stage = Stage(rows)

    def draw(index: int) -> object:
        drawn.add(index)
        return Content("a heading over everything") if index == 0 else (str(index), "x")

    async with stage.run_test(size=(40, 10)) as pilot:
        rows.fill([str(at) for at in range(100_000)], draw)  # type: ignore[arg-type]
        await until(pilot, lambda: "a heading over everything" in screen_text(stage))
        assert drawn == set(range(10))
        assert "▌  a heading" in screen_text(stage)


async def test_every_line_is_as_wide_as_the_table_however_narrow():
    rows = table()
    stage = Stage(rows)
    async with stage.run_test(size=(40, 5)) as pilot:
        fill(rows, ["家家家家家家家家家家", "b"])
        for width in (12, 3, 1):
            await pilot.resize_terminal(width, 5)
            assert {rows.render_line(y).cell_length for y in range(5)} == {rows.size.width}


KEYS = st.lists(st.sampled_from("abcdef"), unique=True)


@given(KEYS, st.lists(KEYS, max_size=4), st.integers(0, 6))
def test_wherever_the_cursor_is_it_is_on_a_row(first, others, index):
    rows = table()
    rows._keys = first
    rows.set_reactive(Rows.index, rows.validate_index(index))
    for keys in others:
        before = rows.key
        rows._keys = keys
        rows.set_reactive(Rows.index, rows._position(before))
        assert rows.key == before if before in keys else rows.key in (keys or [None])
