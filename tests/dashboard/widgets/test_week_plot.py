"""A plot of a number per week: the highest fills it, what is there is seen, months stand below."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import assume, given
from hypothesis import strategies as st

from tui.widgets.week_plot import drawn

MONDAY = date(2025, 11, 3)


def weeks(*numbers: int) -> list[tuple[date, int]]:
    return [(MONDAY + timedelta(weeks=at), number) for at, number in enumerate(numbers)]


def test_the_highest_number_fills_its_bar_and_stands_at_the_side():
    assert drawn(weeks(4, 2, 0, 1), 12, 4).plain.splitlines() == [
        "4 █       ",
        "  █ █   ▄ ",
        "0 ────────",
        "  Nov ",
    ]


def test_where_nothing_was_made_that_is_said():
    assert drawn(weeks(0, 0), 40, 6).plain == drawn((), 40, 6).plain == "no memories in these weeks"


def test_a_year_is_named_at_its_january():
    months = drawn(weeks(*[1] * 12), 60, 4).plain.splitlines()[-1]
    assert months.split() == ["Nov", "Dec", "Jan", "2026"]


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=60), st.integers(12, 120), st.integers(3, 12))
def test_the_plot_keeps_to_its_room(numbers, width, height):
    assume(any(numbers))
    rows = drawn(weeks(*numbers), width, height).plain.splitlines()
    assert len(rows) == height and max(map(len, rows)) <= width


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=10), st.integers(3, 12))
def test_every_number_above_0_is_seen(numbers, height):
    assume(any(numbers))
    side = len(f"{max(numbers):,}") + 1
    lowest = drawn(weeks(*numbers), side + 4 * len(numbers), height).plain.splitlines()[-3][side:]
    step = len(lowest) // len(numbers)
    assert [sign != " " for sign in lowest[::step]] == [number > 0 for number in numbers]
