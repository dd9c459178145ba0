"""What is proposed for a note that lacks something."""

from __future__ import annotations

import pytest

from vaultmem.editing.changes import suggested_description
from vaultmem.notes.parse import parse_note


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("**When**: 3 June\n", "When: 3 June"),
        ("# Heading\n\n- First of all. Then more.\n", "First of all."),
        ("先放稳定的。再放多变的。\n", "先放稳定的。"),
        ("# Only a heading\n", ""),
        ("x" * 158 + "👩\u200d🚀 and more", "x" * 158 + "…"),
    ],
)
def test_the_first_sentence_is_proposed_and_cut_between_letters(body: str, expected: str) -> None:
    note = parse_note("a.md", f"---\nid: a\n---\n{body}".encode())
    assert suggested_description(note, 160) == expected
