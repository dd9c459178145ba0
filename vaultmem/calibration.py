"""Calibration: what a model's vectors look like before they say anything, so that the rest can be told from
it.

A multilingual model puts texts of one language close together whatever they say. The mean query vector and
the mean passage vector of each language, taken over the texts shipped in `data/calibration.jsonl`, are
subtracted and the rest is brought back to unit length: then a cosine ranks by content. The means are fixed
per model and never come from a vault, whose own mean is its topic.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from vaultmem.data import read_records
from vaultmem.scoring import HIT_DEVIATIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Embed = Callable[[Sequence[str]], Vectors]

LANGUAGES = ("zh", "en")
Pair = tuple[str, str]
"""Language of a query, language of a passage."""

_METHOD = "levels-1"


@dataclass(frozen=True, slots=True)
class Level:
    """Centred cosines of one model in one pair of languages, measured on the shipped texts."""

    stranger: float
    """Mean over prompts and passages on different subjects."""
    hit: float
    """Mean over prompts and the passages that answer them."""

    def likeness(self, cosine: float) -> float:
        """How much a pair looks like a hit: 0 a stranger (or less), 1 a typical hit, more is more."""
        return max(0.0, cosine - self.stranger) / (self.hit - self.stranger)


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """The means and levels of one model; each mean is (d,) float32."""

    fingerprint: str
    """Of the vectors that it belongs to."""
    query_means: Mapping[str, Vectors]
    passage_means: Mapping[str, Vectors]
    levels: Mapping[Pair, Level]

    def centre_queries(self, raw: Vectors, languages: Sequence[str]) -> Vectors:
        """Raw query vectors (n, d), each of a language → centred unit vectors (n, d)."""
        return _centre(raw, [self.query_means[language] for language in languages])

    def centre_passages(self, raw: Vectors, languages: Sequence[str]) -> Vectors:
        """Raw passage vectors (n, d), each of a language → centred unit vectors (n, d)."""
        return _centre(raw, [self.passage_means[language] for language in languages])

    def likeness(self, cosine: float, query_language: str, passage_language: str) -> float:
        """Centred cosine → likeness, on the scale of this pair of languages."""
        return self.levels[query_language, passage_language].likeness(cosine)

    def to_bytes(self) -> bytes:
        """The calibration as bytes, for `from_bytes`."""
        import numpy as np

        arrays: dict[str, Any] = {"fingerprint": np.array(self.fingerprint)}
        for language in LANGUAGES:
            arrays[f"query_{language}"] = self.query_means[language]
            arrays[f"passage_{language}"] = self.passage_means[language]
        for (asked, held), level in self.levels.items():
            arrays[f"level_{asked}_{held}"] = np.array([level.stranger, level.hit])
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Calibration:
        """Read what `to_bytes` wrote; anything else raises ValueError. The last few are kept in memory."""
        return _read(data)


@lru_cache(maxsize=4)
def _read(data: bytes) -> Calibration:
    import numpy as np

    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return Calibration(
                str(arrays["fingerprint"]),
                {language: arrays[f"query_{language}"] for language in LANGUAGES},
                {language: arrays[f"passage_{language}"] for language in LANGUAGES},
                {pair: Level(*map(float, arrays["level_{}_{}".format(*pair)])) for pair in _pairs()},
            )
    except Exception as error:
        raise ValueError(f"not a calibration: {error}") from error


def calibrate(embed_queries: Embed, embed_passages: Embed, fingerprint: str) -> Calibration:
    """The calibration of a model, from the shipped texts; raises what the embedding raises."""
    texts = calibration_texts()
    prompts = {language: embed_queries(texts["prompt", language]) for language in LANGUAGES}
    passages = {language: embed_passages(texts["passage", language]) for language in LANGUAGES}
    query_means = {language: _mean(vectors) for language, vectors in prompts.items()}
    passage_means = {language: _mean(vectors) for language, vectors in passages.items()}
    levels = {
        (asked, held): _level(
            _centre(prompts[asked], [query_means[asked]]), _centre(passages[held], [passage_means[held]])
        )
        for asked, held in _pairs()
    }
    return Calibration(fingerprint, query_means, passage_means, levels)


def _level(queries: Vectors, passages: Vectors) -> Level:
    """The level of centred vectors (n, d) of which those at the same place belong together."""
    import numpy as np

    cosines = queries @ passages.T
    strangers = cosines[~np.eye(len(cosines), dtype=bool)]
    stranger, deviation = float(strangers.mean()), float(strangers.std())
    return Level(stranger, max(float(cosines.diagonal().mean()), stranger + HIT_DEVIATIONS * deviation))


def _pairs() -> list[Pair]:
    return [(asked, held) for asked in LANGUAGES for held in LANGUAGES]


def calibration_key(fingerprint: str) -> str:
    """Under which name the calibration of these vectors is kept; other shipped texts make another name."""
    return f"{fingerprint}/{_texts_digest()}"


@cache
def calibration_texts() -> Mapping[tuple[str, str], list[str]]:
    """The shipped texts by (`prompt` | `passage`, language); the same place means the same subject."""
    records = read_records("calibration.jsonl")
    return {
        (kind, language): [record[language][kind] for record in records]
        for kind in ("prompt", "passage")
        for language in LANGUAGES
    }


@cache
def _texts_digest() -> str:
    texts = json.dumps([_METHOD, list(calibration_texts().values())], ensure_ascii=False)
    return blake2b(texts.encode(), digest_size=8).hexdigest()


def _mean(vectors: Vectors) -> Vectors:
    mean: Vectors = vectors.mean(axis=0, dtype="float64").astype("float32")
    return mean


def _centre(raw: Vectors, means: Sequence[Vectors]) -> Vectors:
    import numpy as np

    if not len(raw):
        return raw
    rest = raw - np.stack(means)  # one mean serves all
    lengths = np.linalg.norm(rest, axis=1, keepdims=True)
    centred: Vectors = (rest / np.maximum(lengths, 1e-9)).astype(np.float32)
    return centred
