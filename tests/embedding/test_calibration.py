from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from vaultmem.embedding.calibration import (
    Calibration,
    Level,
    calibrate,
    calibration_key,
    calibration_texts,
    shipped_calibration,
)
from vaultmem.embedding.embedder import open_embedder
from vaultmem.testing import HashingEmbedder
from vaultmem.text.languages import LANGUAGES, language

Vectors = NDArray[np.float32]
DIMENSION = 64


def leaning(texts: Sequence[str]) -> Vectors:
    """A model that puts texts of one language together, whatever they say, and subjects apart beside it."""
    embedder = HashingEmbedder(size=DIMENSION)
    lean = {"zh": 0, "en": 1, "other": 2}
    raw = embedder.passages(texts)
    for row, text in zip(raw, texts, strict=True):
        row[lean[language(text)]] += 3.0
    unit: Vectors = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    return unit


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return calibrate(leaning, leaning, "leaning")


@pytest.mark.parametrize("tongue", ["zh", "en"])
def test_the_shipped_texts_are_enough_and_parallel(tongue: str) -> None:
    texts = calibration_texts()[tongue]
    assert len(texts.prompts) == len(texts.passages) == len(texts.subjects) >= 80
    assert texts.subjects == calibration_texts()["en"].subjects
    for lines in (texts.prompts, texts.passages):
        assert len(set(lines)) == len(lines)
        assert {language(line) for line in lines} == {tongue}


def test_other_languages_speak_of_the_same_subjects() -> None:
    others = calibration_texts()["other"]
    assert set(others.subjects) <= set(calibration_texts()["en"].subjects)
    assert len(set(others.tongues)) >= 6
    told = [language(line) for line in (*others.prompts, *others.passages)]
    assert told.count("other") >= 0.95 * len(told)


def test_centred_vectors_have_unit_length(calibration: Calibration) -> None:
    raw = leaning(["缓存没有命中", "the cache misses"])
    centred = calibration.centre_passages(raw, ["zh", "en"])
    assert np.linalg.norm(centred, axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert centred.dtype == np.float32


def test_centring_takes_the_language_out(calibration: Calibration) -> None:
    chinese = leaning(["红烧肉的做法", "服务器时区不对"])
    before = float(chinese[0] @ chinese[1])
    after = calibration.centre_passages(chinese, ["zh", "zh"])
    assert before > 0.8 and float(after[0] @ after[1]) < 0.4


def test_nothing_to_centre_is_no_error(calibration: Calibration) -> None:
    nothing = np.empty((0, DIMENSION), np.float32)
    assert calibration.centre_queries(nothing, []).shape == (0, DIMENSION)


def test_a_stranger_is_nothing_like_a_hit_and_a_hit_is_one(calibration: Calibration) -> None:
    levels = {pair: Level(stranger=0.2, hit=0.4) for pair in calibration.levels} | {
        ("zh", "en"): Level(stranger=0.1, hit=0.6)
    }
    cosines = np.array([[-1.0], [0.1], [0.6], [0.85]])
    found = replace(calibration, levels=levels).likenesses(cosines, ["zh"], ["en"] * 4)
    assert found[:, 0] == pytest.approx([0, 0, 1, 1.5])
    assert replace(calibration, levels=levels).likenesses(cosines[2:3], ["en"], ["zh"]) == pytest.approx(2)


def test_every_pair_of_languages_has_its_level(calibration: Calibration) -> None:
    assert set(calibration.levels) == {(a, b) for a in LANGUAGES for b in LANGUAGES}
    assert all(level.hit > level.stranger for level in calibration.levels.values())


def test_a_model_that_tells_nothing_apart_gets_a_scale_on_which_nothing_is_a_hit() -> None:
    def noise(texts: Sequence[str]) -> Vectors:
        rng = np.random.default_rng(len("".join(texts)))
        vectors = rng.normal(size=(len(texts), DIMENSION)).astype(np.float32)
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    calibration = calibrate(noise, noise, "noise")
    cosines = calibration.centre_queries(noise(["a"] * 200), ["en"] * 200) @ noise(["b"] * 200).T
    likenesses = calibration.likenesses(cosines, ["en"] * 200, ["en"] * 200)
    assert np.quantile(likenesses, 0.99) < 0.75


def test_a_calibration_survives_its_bytes(calibration: Calibration) -> None:
    again = Calibration.from_bytes(calibration.to_bytes())
    assert again.fingerprint == "leaning" and again.levels == calibration.levels
    for tongue in LANGUAGES:
        assert np.array_equal(again.query_means[tongue], calibration.query_means[tongue])
        assert np.array_equal(again.passage_means[tongue], calibration.passage_means[tongue])


@pytest.mark.parametrize("data", [b"", b"nonsense", b"PK\x03\x04torn"])
def test_other_bytes_are_no_calibration(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a calibration"):
        Calibration.from_bytes(data)


def test_another_model_has_another_key() -> None:
    assert calibration_key("one") != calibration_key("two")
    assert calibration_key("one") == calibration_key("one")


def test_the_bundled_models_calibration_ships_and_belongs_to_the_shipped_texts():
    embedder = open_embedder("bundled")
    shipped = shipped_calibration(embedder.fingerprint)
    assert shipped is not None, "the texts or the model changed: run `make calibration`"
    assert shipped.fingerprint == embedder.fingerprint
    assert shipped_calibration("another model") is None
