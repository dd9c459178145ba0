"""Shipped files are read by name, and the folder they lie in holds no code but what reads them."""

from __future__ import annotations

import pytest

from vaultmem.data.shipped import read_bytes, read_records, read_words


def test_words_come_without_comments_and_blank_lines():
    words = read_words("small_talk.txt")
    assert words and all(word == word.strip() and word and not word.startswith("#") for word in words)


def test_records_are_objects_of_every_line():
    assert {"zh", "en"} <= read_records("calibration.jsonl")[0].keys()


def test_bytes_are_those_of_the_file_and_none_where_there_is_no_such_file():
    assert (read_bytes("small_talk.txt") or b"").decode("utf-8").splitlines()
    assert read_bytes("calibration-of-no-model.npz") is None


def test_a_text_that_is_not_there_is_an_error():
    with pytest.raises(FileNotFoundError):
        read_words("no_such_words.txt")
