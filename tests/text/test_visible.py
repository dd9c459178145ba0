"""What of a text is seen: emoji whole, letters with their marks, and never a character without a picture."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vaultmem.text.visible import EMOJI, emoji_form, is_anything_seen, letters

UNSEEN = ["\ufe0f", "\u200d", "\u20e3", "\u202e", "\u2066", "\U000e0041", "\u3164", "\u2800", "\u00ad", "\ufeff",
          "\u0301", "\U000e0100", "\u034f", "\u200b", "\x00", "\u2028", "\u00a0"]  # fmt: skip


@pytest.mark.parametrize("text", ["", " \n\t", *UNSEEN, "".join(UNSEEN)])
def test_what_has_no_picture_is_not_seen(text: str) -> None:
    assert not is_anything_seen(text)


@pytest.mark.parametrize("text", ["a", "-", "記", "é", "⚠️", "👍🏽", "🇩🇪", "1️⃣", "\u202ea", "\U0001fae9", "→"])
def test_letters_digits_signs_and_emoji_are_seen(text: str) -> None:
    assert is_anything_seen(text)


@pytest.mark.parametrize(
    "emoji",
    ["⭐", "👍🏽", "👩\u200d💻", "❤\ufe0f\u200d🔥", "🏳\ufe0f\u200d🌈", "👩🏿\u200d❤\ufe0f\u200d👨🏻", "🏃\u200d♂\ufe0f",
     "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"],
)  # fmt: skip
def test_an_emoji_is_one_with_all_that_belongs_to_it(emoji: str) -> None:
    assert EMOJI.fullmatch(emoji) and emoji_form(emoji) == emoji


def test_the_selector_of_a_single_emoji_is_another_spelling_of_it() -> None:
    assert [emoji_form(emoji) for emoji in ("⭐\ufe0f", "☎\ufe0e", "✌\ufe0f🏽")] == ["⭐", "☎", "✌🏽"]


@pytest.mark.parametrize("character", ["a", "1", "★", "→", "▲", "记", "\U000e0067", "\u200d", "🏽"])
def test_these_are_no_emoji(character: str) -> None:
    assert not EMOJI.search(character)


def test_letters_keep_their_marks_and_marks_need_a_letter() -> None:
    assert letters("हिन्दी e\u0301 \u0301x", gap="_") == "हिन्दी_e\u0301_x"
    assert letters("می\u200cخواهم", gap=" ") == "می خواهم"
    assert letters("a-b/c!", kept="-/") == "a-b/c"


@given(st.text(max_size=30))
@example("".join(f"a{character}" for character in UNSEEN))
def test_letters_hold_nothing_unseen(text: str) -> None:
    found = letters(text)
    assert all(unicodedata.category(character) not in ("Cf", "Cc", "Me") for character in found)
    assert not set(found) & (set(UNSEEN) - {"\u0301"})
