"""The fakes that ship: deterministic, countable, and able to fail on purpose."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from vaultmem.errors import EmbedderError
from vaultmem.notes.metadata import Status
from vaultmem.testing import HashingEmbedder, make_note

VECTORS = Path(__file__).parent / "programs" / "vectors.py"


def test_vectors_are_unit_float32_rows() -> None:
    vectors = HashingEmbedder(size=24).passages(["alpha beta", "", "缓存 顺序", "\ud800"])
    assert vectors.shape == (4, 24)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(4), abs=1e-5)


def test_no_texts_give_no_rows() -> None:
    assert HashingEmbedder(size=24).queries([]).shape == (0, 24)


def test_texts_that_share_words_are_nearer() -> None:
    near, far, query = HashingEmbedder().passages(
        ["cache of vectors", "holiday in spain", "the cache vectors"]
    )
    assert query @ near > query @ far + 0.3


def test_queries_and_passages_share_a_space() -> None:
    embedder = HashingEmbedder()
    assert np.array_equal(embedder.queries(["缓存"]), embedder.passages(["缓存"]))


def test_another_process_makes_the_same_vectors() -> None:
    command = [sys.executable, "-X", "utf8", str(VECTORS), "a 缓存"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert told == str(HashingEmbedder(size=8).queries(["a 缓存"]).tolist())


def test_it_counts_what_it_is_asked() -> None:
    embedder = HashingEmbedder()
    embedder.passages(["one", "two"])
    embedder.queries(["three"])
    assert embedder.texts_embedded == 3
    assert embedder.calls == [("one", "two"), ("three",)]


def test_it_fails_when_told_to() -> None:
    embedder = HashingEmbedder(is_failing=True)
    with pytest.raises(EmbedderError):
        embedder.passages(["one"])
    assert embedder.texts_embedded == 0


def test_the_delay_is_per_text() -> None:
    started = time.perf_counter()
    HashingEmbedder(delay_s=0.01).passages(["one", "two", "three"])
    assert time.perf_counter() - started >= 0.03


def test_the_fingerprint_tells_sizes_apart() -> None:
    assert HashingEmbedder(size=8).fingerprint != HashingEmbedder(size=16).fingerprint
    assert HashingEmbedder(size=8).dimension == 8


def test_a_made_note_is_what_a_file_with_these_fields_would_be() -> None:
    note = make_note(name='Say "hi": \\o/', tags=("a b", "缓存"), status="deprecated", body="One.\n\nTwo.\n")
    assert note.problems == ()
    assert (note.name, note.status, note.body) == ('Say "hi": \\o/', Status.DEPRECATED, "One.\n\nTwo.\n")
    assert make_note(id=None).id is None
