"""A tag has one normal form, and several are told apart in one text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vaultmem.notes.tags import normalise_tag, normalise_tags, split_tag_text
from vaultmem.text.visible import EMOJI, is_anything_seen


@pytest.mark.parametrize(
    ("written", "tag"),
    [
        (" Cache ", "cache"),
        ("#cache", "cache"),
        ("## cache", "cache"),
        ("ＡＢＣ　１２", "abc-12"),
        ("Cache  Layer\tX", "cache-layer-x"),
        ("project/March CLI", "project/march-cli"),
        ("snake_case", "snake_case"),
        ("C++", "c"),
        ("缓存", "缓存"),
        ("e\u0301te\u0301", "été"),
        ("हिन्दी", "हिन्दी"),
        ("a\u200db", "ab"),
        ("🧠", "🧠"),
        ("⭐\ufe0f", "⭐"),
        ("☎\ufe0e", "☎"),
        ("📥/📘", "📥/📘"),
        ("1\ufe0f\u20e3", "1"),
        ("#\ufe0f\u20e3", ""),
        ("emoji/👍🏽", "emoji/👍🏽"),
        ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
        ("👩\u200d💻 at work", "👩\u200d💻-at-work"),
        ("🇩🇪", "🇩🇪"),
        ("a\u200d🧠\u200d", "a🧠"),
        ("🧠\u0301", "🧠"),
        ("葛\U000e0100", "葛"),
        ("cache\U000e0041\u202e", "cache"),
        ("/a//b/", "a/b"),
        ("a/\ufe0f/b", "a/b"),
        ("\ufe0f", ""),
        ("\u0301/\u0301", ""),
        ("\u3164", ""),
        ("-/_", ""),
        ("/", ""),
        ("→", ""),
        ("#", ""),
        ("", ""),
    ],
)
def test_a_tag_has_one_normal_form(written: str, tag: str) -> None:
    assert normalise_tag(written) == tag


def test_repeats_and_empties_are_dropped_in_order() -> None:
    assert normalise_tags(["B", "a", "", "#b", "!"]) == ("b", "a")


@given(st.text(max_size=20))
@example("ϓ")
@example("İ")
@example("e\u200d\u0301")
@example("# # x")
@example("❤\ufe0f!\u200d🔥")
@example("/!/\u0301")
def test_a_normal_form_is_normal(text: str) -> None:
    tag = normalise_tag(text)
    assert normalise_tag(tag) == tag
    assert tag == unicodedata.normalize("NFKC", tag)
    assert all(c in "/-_" or unicodedata.category(c)[0] in "LMN" for c in EMOJI.sub("", tag))
    assert not tag or (is_anything_seen(tag.replace("-", "").replace("_", "").replace("/", "")))
    assert "" not in tag.split("/") or not tag


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("a b\tc", ["a", "b", "c"]),
        ("a b, c", ["a b", " c"]),
        ("缓存，架构、设计", ["缓存", "架构", "设计"]),
        ("a,,b", ["a", "", "b"]),
        ("  ", []),
    ],
)
def test_tags_in_one_text_are_told_apart_by_commas_and_else_by_blanks(written: str, parts: list[str]) -> None:
    assert split_tag_text(written) == parts
