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
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from vaultmem.data import read_records

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Embed = Callable[[Sequence[str]], Vectors]

LANGUAGES = ("zh", "en")
_METHOD = "means-1"


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """The means of one model, by language; each is (d,) float32."""

    fingerprint: str
    """Of the vectors that it belongs to."""
    query_means: Mapping[str, Vectors]
    passage_means: Mapping[str, Vectors]

    def centre_queries(self, raw: Vectors, languages: Sequence[str]) -> Vectors:
        """Raw query vectors (n, d), each of a language → centred unit vectors (n, d)."""
        return _centre(raw, [self.query_means[language] for language in languages])

    def centre_passages(self, raw: Vectors, languages: Sequence[str]) -> Vectors:
        """Raw passage vectors (n, d), each of a language → centred unit vectors (n, d)."""
        return _centre(raw, [self.passage_means[language] for language in languages])

    def to_bytes(self) -> bytes:
        """The calibration as bytes, for `from_bytes`."""
        import numpy as np

        buffer = io.BytesIO()
        arrays: dict[str, Any] = {f"query_{k}": v for k, v in self.query_means.items()}
        arrays |= {f"passage_{k}": v for k, v in self.passage_means.items()}
        np.savez(buffer, fingerprint=np.array(self.fingerprint), **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Calibration:
        """Read what `to_bytes` wrote; anything else raises ValueError."""
        import numpy as np

        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                return cls(
                    str(arrays["fingerprint"]),
                    {language: arrays[f"query_{language}"] for language in LANGUAGES},
                    {language: arrays[f"passage_{language}"] for language in LANGUAGES},
                )
        except Exception as error:
            raise ValueError(f"not a calibration: {error}") from error


def calibrate(embed_queries: Embed, embed_passages: Embed, fingerprint: str) -> Calibration:
    """The calibration of a model, from the shipped texts; raises what the embedding raises."""
    texts = calibration_texts()
    return Calibration(
        fingerprint,
        {language: _mean(embed_queries(texts["prompt", language])) for language in LANGUAGES},
        {language: _mean(embed_passages(texts["passage", language])) for language in LANGUAGES},
    )


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
    rest = raw - np.stack(means)
    lengths = np.linalg.norm(rest, axis=1, keepdims=True)
    centred: Vectors = (rest / np.maximum(lengths, 1e-9)).astype(np.float32)
    return centred
