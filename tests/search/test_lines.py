"""What is looked for, and what is shown of the lines that were found."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmem.errors import UsageError
from vaultmem.search.lines import (
    CONTEXT_CHARS,
    PATTERN_CHARS,
    TEXT_CHARS,
    FoundLine,
    Match,
    Pattern,
    Wanted,
    bad_expression,
    collect,
    excerpt,
    few,
)

WANTED = Wanted(Path("/root"), Pattern.of("x"), 20, 1, lambda path: True, math.inf, 1_000)


def lines(path: str, marks: str) -> list[FoundLine]:
    """`.x.` is a line, a match and a line, numbered from 1."""
    return [FoundLine(path, number, mark == "x", f"{path} {number}") for number, mark in enumerate(marks, 1)]


def found(wanted: Wanted, *each: FoundLine) -> list[Match]:
    return [hit.match(hit.line.text) for hit in collect(each, wanted)]


# --- the pattern


def test_half_a_character_is_no_pattern() -> None:
    with pytest.raises(UsageError, match="not UTF-8"):
        Pattern.of("bad\udcff")


def test_a_pattern_may_be_as_long_as_a_program_takes() -> None:
    assert Pattern.of("x" * PATTERN_CHARS).text == "x" * PATTERN_CHARS
    with pytest.raises(UsageError, match="30001 characters"):
        Pattern.of("x" * (PATTERN_CHARS + 1))


def test_a_plain_text_has_one_form_and_a_letter_with_a_mark_two() -> None:
    assert Pattern.of("a.b", is_fixed=True).forms() == ("a.b",)
    assert Pattern.of("caf\u00e9", is_fixed=True).forms() == ("caf\u00e9", "cafe\u0301")
    assert Pattern.of("cafe\u0301", is_fixed=True).forms() == ("caf\u00e9", "cafe\u0301")


def test_a_class_of_an_expression_stays_as_it_is() -> None:
    assert Pattern.of("\u00e9+").forms() == ("(?:\u00e9|e\u0301)+", "\u00e9+")
    assert Pattern.of("[\u00e9]+").forms() == ("[\u00e9]+",)


@settings(deadline=None)
@given(st.text(min_size=1).filter(lambda text: text.strip() and not set(text) & set("\0\r\n")))
def test_a_fixed_text_finds_itself_in_either_form(text: str) -> None:
    compiled = Pattern.of(text, is_fixed=True).compiled()
    for form in (text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)):
        assert any(expression.fullmatch(form) for expression in compiled)


def test_an_expression_that_python_cannot_read_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="Python cannot read this regular expression: "):
        Pattern.of("(").compiled()
    assert Pattern.of("(", is_fixed=True).compiled() == (re.compile(r"\("),)


def test_of_a_programs_many_words_the_reason_is_told() -> None:
    words = "regex parse error:\n    (\n    ^\nerror: unclosed group\n"
    assert str(bad_expression(words, "ripgrep")).endswith("expression: unclosed group")
    assert str(bad_expression("too big\nsecond line", "ripgrep")).endswith("expression: too big")


# --- the files


def test_only_notes_that_are_asked_for_are_wanted() -> None:
    wanted = replace(WANTED, keep=lambda path: path.startswith("2026"))
    assert wanted.is_wanted("2026/a.md")
    assert not wanted.is_wanted("2025/a.md")
    assert not wanted.is_wanted("2026/a.txt") and not wanted.is_wanted("2026/.a.md")


# --- matches


def test_a_line_between_two_matches_is_shown_with_both() -> None:
    assert found(WANTED, *lines("a.md", ".x.x.")) == [
        Match("a.md", 2, "a.md 2", ("a.md 1",), ("a.md 3",)),
        Match("a.md", 4, "a.md 4", ("a.md 3",), ("a.md 5",)),
    ]


def test_the_lines_of_one_file_are_no_neighbours_of_anothers() -> None:
    first, second = found(WANTED, *lines("b.md", "x"), *lines("a.md", "x"))
    assert (first.before, first.after, second.before, second.after) == ((), (), (), ())


def test_lines_with_a_gap_between_them_are_no_neighbours() -> None:
    far, match = FoundLine("a.md", 1, False, "far"), FoundLine("a.md", 7, True, "match")
    assert found(WANTED, far, match) == [Match("a.md", 7, "match", (), ())]


def test_without_context_a_match_is_alone() -> None:
    alone = found(replace(WANTED, context=0), *lines("a.md", "xxx"))
    assert [match.before + match.after for match in alone] == [(), (), ()]


def test_no_more_lines_are_taken_than_the_hits_need() -> None:
    taken: list[int] = []

    def told() -> Iterator[FoundLine]:
        for line in lines("a.md", "x.x.x.x."):
            taken.append(line.number)
            yield line

    assert len(list(collect(told(), replace(WANTED, limit=1)))) == 1
    assert taken == [1, 2, 3]


def test_long_neighbours_are_cut() -> None:
    long, match = FoundLine("a.md", 1, False, "y" * 500), FoundLine("a.md", 2, True, "x")
    assert found(WANTED, long, match)[0].before == ("y" * (CONTEXT_CHARS - 1) + "…",)


# --- words


def test_five_warnings_are_told_and_more_are_counted() -> None:
    assert few([]) == ()
    assert few(["w"] * 5) == ("w",) * 5
    assert few(["w"] * 7) == (*["w"] * 5, "and 2 more")


def test_a_short_line_is_shown_whole_without_its_end() -> None:
    assert excerpt("a line\r\n", None) == "a line"
    assert excerpt("x" * TEXT_CHARS, None) == "x" * TEXT_CHARS


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_an_excerpt_is_no_wider_than_asked_for(before: str, after: str) -> None:
    text = before + "needle" + after
    assert len(excerpt(text, (len(before), len(before) + 6), 40)) <= 40
    assert len(excerpt(text, None, 40)) <= 40


@settings(deadline=None)
@given(st.integers(0, 200), st.integers(0, 200))
def test_an_excerpt_holds_its_match(before: int, after: int) -> None:
    text = "字" * before + "needle" + "文" * after
    assert "needle" in excerpt(text, (before, before + 6), 40)


def test_an_excerpt_breaks_no_letter() -> None:
    assert excerpt("🇩🇪" * 50, None, 10) == "🇩🇪" * 4 + "…"
