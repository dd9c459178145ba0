"""The columns of a table share the room there is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from tui.models.shelf import Mark
from tui.widgets.columns import GUTTER, Column, apart, joined, laid_out, titles

COLUMNS = (
    Column("name", 6, share=2, key="name"),
    Column("tags", 4, share=1, needs=30),
    Column("n", 3, is_right=True),
)


def widths(width: int) -> list[int]:
    return [room for _, room in laid_out(COLUMNS, width)]


def test_what_is_left_over_goes_to_the_columns_with_a_share():
    assert widths(3 + 6 + 4 + 3 + 2 + 12) == [6 + 8, 4 + 4, 3]


def test_a_narrow_table_leaves_out_what_needs_more_room():
    assert [column.title for column, _ in laid_out(COLUMNS, 29)] == ["name", "n"]


@given(st.integers(min_value=30, max_value=300))
def test_columns_with_the_gaps_between_them_fill_the_table(width):
    assert GUTTER + sum(widths(width)) + 2 == width


@pytest.mark.parametrize(("is_descending", "arrow"), [(True, "↓"), (False, "↑")])
def test_the_title_that_is_sorted_by_has_an_arrow(is_descending, arrow):
    assert titles(COLUMNS, 29, ("name", is_descending)).plain.split() == ["name", arrow, "n"]
    assert "↓" not in titles(COLUMNS, 29, None).plain


def test_a_row_is_cut_and_filled_to_its_columns():
    drawn = joined(COLUMNS, ("a long long long name", lambda width: Content("x" * width), "7"), 30)
    assert drawn.plain == "a long long l… xxxxxxxx   7"


def test_names_that_others_have_too_are_told_apart():
    name = Content("Notes")
    assert apart(name, None) == name
    cell = apart(name, Mark("2026-05-11-notes", 8))
    assert callable(cell)
    assert cell(40).plain == "Notes  2026-05-11-notes"
    assert cell(16).plain == "Notes  …11-notes"
