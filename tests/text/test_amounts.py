"""Numbers as people read them."""

from __future__ import annotations

import pytest

from vaultmem.text.amounts import count, counted, size


def test_numbers_have_their_thousands_apart_and_nouns_their_plural() -> None:
    assert count(12400) == "12,400"
    assert [counted(number, "note") for number in (0, 1, 2)] == ["0 notes", "1 note", "2 notes"]
    assert counted(1000, "copy", "copies") == "1,000 copies"


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (9_949, "9.9 kB"),
        (9_950, "10 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (23_000_000, "23 MB"),
        (5 * 10**15, "5,000 TB"),
    ],
)
def test_bytes_are_told_for_people(size_bytes: int, text: str) -> None:
    assert size(size_bytes) == text
