"""Where a long text is cut. What becomes of a note's pieces is in tests/notes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmem.text.cuts import (
    CODE,
    PROSE,
    ROWS,
    Limits,
    LineIndex,
    Places,
    cut,
    estimate_tokens,
    is_letter_border,
    protected_spans,
)

LIMITS = Limits.around(100)
LINES = st.text(alphabet="ab \n\r", max_size=60)


def pieces(text: str, places: Places = PROSE, limits: Limits = LIMITS) -> list[str]:
    return [text[start:end] for start, end in cut(text, limits, places)]


# --- limits


def test_a_piece_may_be_half_as_long_again_as_its_target_and_never_twice_as_long() -> None:
    assert (LIMITS.target_chars, LIMITS.piece_chars, LIMITS.hard_chars) == (100, 150, 200)
    assert LIMITS.is_piece("字" * 150) and not LIMITS.is_piece("字" * 151)
    assert LIMITS.is_allowed("字" * 200) and not LIMITS.is_allowed("字" * 201)


def test_tokens_are_a_limit_of_their_own() -> None:
    long = Limits.around(10_000)
    assert long.is_piece("a " * 430) and not long.is_piece("a " * 431)
    assert long.is_allowed("a " * 480) and not long.is_allowed("a " * 481)


def test_what_is_repeated_in_every_piece_leaves_less_room_but_a_quarter_of_the_target() -> None:
    less = LIMITS.less("x" * 40)
    assert (less.target_chars, less.piece_chars, less.hard_chars) == (60, 110, 160)
    assert less.hard_tokens == LIMITS.hard_tokens - estimate_tokens("x" * 40)
    assert LIMITS.less("x" * 9_000) == Limits(25, 25, 25, 25, 25)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t", 0),
        ("cache", 5 * 0.7),
        ("cache CACHE Cache", 15 * 0.7),
        ("ab x7", 4),
        ("缓存。", 3),
        ("\ufdfa", 15),  # one character that a tokenizer takes apart
    ],
)
def test_the_tokens_of_a_text_are_estimated_from_above(text: str, tokens: float) -> None:
    assert estimate_tokens(text) == pytest.approx(tokens)


# --- cutting


def test_a_text_that_may_stay_whole_is_one_piece_even_an_empty_one() -> None:
    assert cut("", LIMITS) == [(0, 0)]
    assert cut("字" * 150, LIMITS) == [(0, 150)]


def test_prose_is_cut_behind_a_sentence_however_near_a_clause_is() -> None:
    sentence = "一句话，" * 10 + "完了。"
    assert pieces(sentence * 4) == [sentence * 2] * 2


def test_without_a_sentence_the_next_best_place_is_taken() -> None:
    assert pieces(("x" * 89 + ", ") * 3)[0] == "x" * 89 + ", "
    assert pieces(("x" * 89 + " ") * 3)[0] == "x" * 89 + " "
    assert [len(piece) for piece in pieces("x" * 300)] == [100, 100, 100]


def test_the_last_two_pieces_share_what_is_left_evenly() -> None:
    assert [len(piece) for piece in pieces("x" * 160)] == [80, 80]


def test_code_is_cut_at_an_empty_line_and_no_line_in_itself() -> None:
    block = "one = first(line)\n" * 4
    assert pieces(f"{block}\n{block}\n{block}", CODE)[0] == f"{block}\n"
    assert all(piece.endswith("\n") for piece in pieces("x = some_function(argument)\n" * 20, CODE))


def test_a_row_that_is_too_long_alone_is_cut_at_a_cell() -> None:
    assert all(piece.endswith("|") for piece in pieces("| a value here, and more " * 20 + "|", ROWS))


@settings(deadline=None)
@given(st.text(max_size=400), st.integers(1, 50), st.sampled_from([PROSE, CODE, ROWS]))
def test_the_pieces_of_a_text_are_the_text_and_each_is_a_piece(
    text: str, target: int, places: Places
) -> None:
    limits = Limits.around(target)
    found = pieces(text, places, limits)
    assert "".join(found) == text
    assert all(len(piece) <= max(limits.piece_chars, 1) for piece in found)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=3000), st.integers(100, 900))
def test_the_spans_of_a_cut_are_the_text(text: str, target: int) -> None:
    spans = cut(text, Limits.around(target))
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(end > start for start, end in spans) or text == ""


# --- what stays whole


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("see [[A note|alias]] and", ["[[A note|alias]]"]),
        ("![[picture.png]]", ["![[picture.png]]"]),
        ("[a link](https://example.org/x) end", ["[a link](https://example.org/x)"]),
        ("at https://example.org/a?b=c 。", ["https://example.org/a?b=c"]),
        ("run `git push` or ``a ` b``", ["`git push`", "``a ` b``"]),
        ("`code with [[a link]] inside`", ["`code with [[a link]] inside`"]),
        ("[[open\nand never closed]]", []),
        ("a lone ` tick", []),
    ],
)
def test_links_and_code_in_a_line_are_protected(text: str, kept: list[str]) -> None:
    assert [text[start:end] for start, end in protected_spans(text, 100)] == kept


def test_what_is_longer_than_a_piece_is_not_protected() -> None:
    assert protected_spans("`" + "x" * 98 + "`", 100) == [(0, 100)]
    assert protected_spans("`" + "x" * 99 + "`", 100) == []


@pytest.mark.parametrize(
    "letter",
    [
        "e\u0301",
        "👍🏽",
        "👩\u200d👧",
        "❤\ufe0f",
        "🇨🇳",
        "\u1112\u1161",
        "가\u11a8",
        "🏴\U000e0067",
    ],
)
def test_no_border_lies_within_what_is_seen_as_one_letter(letter: str) -> None:
    text = f"字{letter}字"
    borders = [place for place in range(len(text) + 1) if is_letter_border(text, place)]
    assert borders == [0, 1, len(text) - 1, len(text)]


def test_flags_are_pairs() -> None:
    assert [place for place in range(5) if is_letter_border("🇩🇪🇫🇷", place)] == [0, 2, 4]


@settings(deadline=None)
@given(st.text(), st.integers(-3, 0))
def test_the_ends_of_a_text_are_borders(text: str, before: int) -> None:
    assert is_letter_border(text, before) and is_letter_border(text, len(text) - before)


@given(st.text(max_size=60), st.integers(0, 60))
def test_a_letter_border_never_stands_before_a_combining_mark(text: str, position: int) -> None:
    if 0 < position < len(text) and unicodedata.combining(text[position]):
        assert not is_letter_border(text, position)


# --- lines


@settings(deadline=None)
@given(LINES, st.integers(0, 60))
def test_the_line_of_a_place_is_how_many_line_feeds_stand_before_it(text: str, position: int) -> None:
    assert LineIndex(text).line_of(position) == text[:position].count("\n")
