"""What is safe to show: on its line, without what hides in it, and never a broken letter."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmem.text.cuts import is_letter_border
from vaultmem.text.shown import harmless, harmless_block, harmless_id, is_text, quoted, shortened


def test_emoji_joiners_stay_and_invisible_characters_go() -> None:
    assert harmless("👩\u200d🚀 a\u200bb\ufeff\U000e0041") == "👩\u200d🚀 ab"


def test_a_lone_surrogate_can_be_written_out() -> None:
    assert harmless("a\ud800b") == "a\ufffdb"


def test_a_block_keeps_its_lines_and_loses_escapes() -> None:
    assert harmless_block("# a\n\tb\x1b[0m\x07") == "# a\n\tb[0m"


@settings(deadline=None)
@given(st.text())
def test_what_is_shown_stands_on_one_line_and_can_be_written(text: str) -> None:
    shown = harmless(text)
    assert len(shown.splitlines()) <= 1 and shown == " ".join(shown.split())
    assert is_text(shown) and harmless(shown) == shown


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029"])
def test_every_line_end_becomes_a_blank(line_end: str) -> None:
    assert harmless(f"one{line_end}two") == "one two"


def test_a_text_that_turns_its_direction_is_shown_as_it_is_stored() -> None:
    assert harmless("invoice\u202efdp.exe\u2066x\u2069") == "invoicefdp.exex"


def test_the_blanks_of_an_id_are_not_folded() -> None:
    assert harmless_id("two  blanks\u3000wide\x1b") == "two  blanks\u3000wide"


def test_half_a_character_is_no_text() -> None:
    assert is_text("缓存 👍🏽")
    assert not is_text("bad\udcff")


@settings(deadline=None)
@given(st.text())
def test_a_block_has_as_many_lines_as_its_text(text: str) -> None:
    shown = harmless_block(text)
    assert shown.count("\n") == text.count("\n") and "\r" not in shown
    assert is_text(shown)


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


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ('2026/05/week3/a b\'s "note" 缓存 👩\u200d🚀.md', None),
        ("two  blanks\\.md", None),
        ("a\nb.md", '"a\\nb.md"'),
        ('a\tb "q" \\ \x1b[2J.md', '"a\\tb \\"q\\" \\\\ \\033[2J.md"'),
        ("a\u202eb\x9b缓.md", '"a\\342\\200\\256b\\302\\233缓.md"'),
        ("a\udcff.md", '"a\\377.md"'),
    ],
)
def test_a_path_is_quoted_where_it_would_not_stand_on_its_line(path: str, expected: str | None) -> None:
    assert quoted(path) == (path if expected is None else expected)
