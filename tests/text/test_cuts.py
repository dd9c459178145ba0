"""Shortening: at most so many characters, and never a broken letter. What `cut` promises is in test_chunks.py."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmem.text.cuts import is_letter_border
from vaultmem.text.shown import shortened


@settings(deadline=None)
@given(st.text(), st.integers(min_value=1, max_value=40))
def test_shortened_text_never_passes_its_width_nor_breaks_a_letter(text: str, width: int) -> None:
    cut = shortened(text, width)
    assert len(cut) <= width
    assert cut == text or (cut.endswith("…") and text.startswith(cut[:-1]))
    kept = len(cut) - 1
    blanks = len(text[kept:]) - len(text[kept:].lstrip())
    assert cut == text or any(is_letter_border(text, kept + skipped) for skipped in range(blanks + 1))


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("ab👩\u200d👩\u200d👧cd", 5, "ab…"),
        ("ae\u0301x", 3, "a…"),
        ("a🇩🇪🇫🇷", 4, "a🇩🇪…"),
        ("👍🏽👍🏽", 2, "…"),
        ("a\u1112\u1161\u11ab", 3, "a…"),
        ("one two", 5, "one…"),
    ],
)
def test_a_cut_never_falls_inside_one_seen_character(text: str, width: int, expected: str) -> None:
    assert shortened(text, width) == expected
