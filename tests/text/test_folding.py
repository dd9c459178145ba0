"""Text in one spelling, in time that grows with it."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmem.text.folding import MARKS_PER_LETTER, folded


@given(st.text(max_size=60))
def test_any_ordinary_text_is_folded_as_unicode_says(text: str) -> None:
    assert folded(text) == unicodedata.normalize("NFKC", text)


@pytest.mark.parametrize(
    "text", ["한국어", "हिन्दी", "→" * 99, "é" * 99, "🧠" * 99, "a" + "\u0301\u0323" * (MARKS_PER_LETTER // 2)]
)
def test_nothing_is_left_out_where_people_write(text: str) -> None:
    assert folded(text) == unicodedata.normalize("NFKC", text)


def test_of_a_long_row_of_marks_the_first_stay() -> None:
    text = folded("a" + "\u0323\u0301" * 50_000 + "b")
    assert text[0] == "ạ" and text[-1] == "b" and len(text) == MARKS_PER_LETTER + 1
    assert folded(text) == text


def test_a_mib_of_marks_is_folded_at_once() -> None:
    started = time.monotonic()
    folded("\u0301\u0323" * 250_000)
    assert time.monotonic() - started < 20  # without a limit it takes minutes
