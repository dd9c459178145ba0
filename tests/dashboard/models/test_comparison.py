"""Two notes beside each other: each difference where it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.models.comparison import CONTEXT, MOST_COMPARED_LINES, ComparedLine, side_by_side

NOTE = st.lists(st.sampled_from(["---", "a: 1", "a: 2", "one", "two", ""])).map("\n".join)


def signs(left: str, right: str) -> str:
    return "".join(line.sign for line in side_by_side(left, right))


def test_a_comparison_is_the_mirror_of_itself_turned_round():
    pairs = side_by_side("---\na: 1\n---\none\ntwo\n", "---\na: 2\n---\none\n")
    turned = side_by_side("---\na: 2\n---\none\n", "---\na: 1\n---\none\ntwo\n")
    assert [(pair.left, pair.right) for pair in pairs if pair.sign in "~-+"] == [
        (pair.right, pair.left) for pair in turned if pair.sign in "~-+"
    ]


def test_metadata_is_compared_with_metadata_and_body_with_body():
    assert side_by_side("\ufeff---\na: 1\n...\nsame\n", "---\na: 2\n---\nsame\nmore\n") == [
        ComparedLine("§", "frontmatter: 1 line differs", ""),
        ComparedLine("~", "a: 1", "a: 2"),
        ComparedLine("§", "body: 1 line differs", ""),
        ComparedLine(" ", "same", "same"),
        ComparedLine("+", "", "more"),
    ]


def test_parts_that_are_the_same_are_a_heading_alone():
    assert [line.left for line in side_by_side("one\ntwo", "one\ntwo")] == [
        "frontmatter: the same",
        "body: the same",
    ]


def test_of_many_equal_lines_those_next_to_a_difference_are_shown():
    equal = "\n".join(f"line {at}" for at in range(20))
    assert signs(f"{equal}\nx", f"{equal}\ny") == "§§…" + " " * CONTEXT + "~"
    assert signs(f"x\n{equal}\nx", f"y\n{equal}\ny") == "§§~" + " " * CONTEXT + "…" + " " * CONTEXT + "~"
    assert ComparedLine("…", "17 equal lines", "") in side_by_side(f"{equal}\nx", f"{equal}\ny")


def test_one_equal_line_is_never_left_out_for_a_line_that_says_so():
    equal = "\n".join(str(at) for at in range(2 * CONTEXT + 1))
    assert "…" not in signs(f"x\n{equal}\nx", f"y\n{equal}\ny")


def test_the_rest_of_a_long_note_is_not_compared():
    long = "same\n" * MOST_COMPARED_LINES
    assert signs(long + "x", long + "y") == "§§"


@pytest.mark.parametrize("text", ["---\na: 1\nno end", "", "---"])
def test_a_block_that_is_not_closed_is_body(text):
    assert side_by_side(text, text + "\nmore")[0].left == "frontmatter: the same"


@given(NOTE, NOTE)
def test_each_differing_line_of_either_note_stands_on_its_own_side(left, right):
    for line in side_by_side(left, right):
        assert line.sign != "~" or line.left != line.right
        assert line.sign != " " or line.left == line.right
        assert line.sign != "-" or line.right == ""
        assert line.sign != "+" or line.left == ""
        assert line.sign in "§…" or line.left in ["", *left.splitlines()]
        assert line.sign in "§…" or line.right in ["", *right.splitlines()]
