"""A third language falls back without harm: memories are found, off-topic prompts stay unanswered (bundled model)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vaultmem.config import EngineChoice
from vaultmem.embedding.calibration import Calibration, shipped_calibration
from vaultmem.embedding.embedder import Embedder, open_embedder
from vaultmem.notes.chunks import metadata_text
from vaultmem.recall.scoring import dense_threshold
from vaultmem.text.languages import language

SAMPLES = Path(__file__).parent / "languages"

pytestmark = [pytest.mark.model, pytest.mark.slow]


@pytest.fixture(scope="module")
def bundled() -> Embedder:
    embedder = open_embedder(EngineChoice.BUNDLED)
    assert embedder is not None
    return embedder


@pytest.fixture(scope="module")
def calibration(bundled: Embedder) -> Calibration:
    # The one that recall uses; measuring it anew takes long.
    shipped = shipped_calibration(bundled.fingerprint)
    assert shipped is not None
    return shipped


def records(file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLES / file).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("file", ["german.jsonl", "japanese.jsonl"])
def test_a_third_language_is_found_and_silent(file: str, bundled: Embedder, calibration: Calibration) -> None:
    notes = [record for record in records(file) if "id" in record]
    strangers = [record["query"] for record in records(file) if "id" not in record]
    held = [metadata_text(note["name"], note["description"], ()) for note in notes]
    asked = [*(note["query"] for note in notes), *strangers]
    languages = [language(text) for text in asked], [language(text) for text in held]
    queries = calibration.centre_queries(bundled.queries(asked), languages[0])
    passages = calibration.centre_passages(bundled.passages(held), languages[1])
    likeness = calibration.likenesses(passages @ queries.T, *languages).T
    threshold = dense_threshold(len(notes))
    hits, misses = likeness[: len(notes)], likeness[len(notes) :]
    assert (hits.argmax(axis=1) == np.arange(len(notes))).mean() >= 0.9
    assert (hits.diagonal() >= threshold).mean() >= 0.9
    assert (misses.max(axis=1) >= threshold).mean() <= 0.1
