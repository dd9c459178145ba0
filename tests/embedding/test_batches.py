"""Texts in batches that an engine can take, and vectors at unit length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmem.embedding.batches import (
    BATCH,
    MAX_TEXT_CHARS,
    MOST_WORDS_CHARS,
    SAMPLE_BYTES,
    batches,
    one_line,
    sampled_hash,
    stacked,
    unit_rows,
)

# --- texts


@given(st.lists(st.text(max_size=4), max_size=3 * BATCH))
def test_every_text_comes_once_in_its_order_and_no_batch_is_too_large(texts: list[str]) -> None:
    found = list(batches(texts))
    assert [text for batch in found for text in batch] == [text.replace("\0", " ") for text in texts]
    assert all(0 < len(batch) <= BATCH for batch in found)


@pytest.mark.parametrize(
    ("text", "sent"), [("a\0b", "a b"), ("a\ud800b", "a?b"), ("x" * 9_999, "x" * MAX_TEXT_CHARS), ("", "")]
)
def test_a_text_is_sent_as_an_engine_in_c_can_take_it(text: str, sent: str) -> None:
    assert list(batches([text])) == [[sent]]


# --- vectors


def test_a_row_without_a_direction_becomes_zeros() -> None:
    rows = unit_rows([[3.0, 4.0], [0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0], [1e-9, 0.0]])
    assert rows.dtype == np.float32
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], *[[0.0, 0.0]] * 4]


def test_parts_are_stacked_and_without_any_there_are_no_rows_of_that_length() -> None:
    assert stacked([unit_rows([[2.0, 0.0]]), unit_rows([[0.0, 3.0]])], 2).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    empty = stacked([], 384)
    assert (empty.shape, empty.dtype) == ((0, 384), np.float32)


# --- files and words


def test_a_hash_is_of_the_size_and_of_beginning_middle_and_end(tmp_path: Path) -> None:
    size = 8 * SAMPLE_BYTES
    file = tmp_path / "weights"
    file.write_bytes(bytes(size))
    whole = sampled_hash(file)
    for place, is_seen in ((0, True), (size // 2, True), (size - 1, True), (2 * SAMPLE_BYTES, False)):
        data = bytearray(size)
        data[place] = 1
        file.write_bytes(data)
        assert (sampled_hash(file) != whole) is is_seen
    file.write_bytes(bytes(size + 1))
    assert sampled_hash(file) != whole


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError("no\n  such file"), "no such file"),
        (KeyError(), "KeyError"),
        (ValueError("x" * 999), "x" * (MOST_WORDS_CHARS - 1) + "…"),
    ],
)
def test_an_errors_words_are_one_short_line(error: Exception, words: str) -> None:
    assert one_line(error) == words
