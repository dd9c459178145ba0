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

from vaultmem.data.shipped import read_bytes, read_records
from vaultmem.text.languages import CHINESE, ENGLISH, LANGUAGES, OTHER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Cosines = NDArray[np.floating[Any]]
    Embed = Callable[[Sequence[str]], Vectors]

Pair = tuple[str, str]
"""Language of a query, language of a passage."""

HIT_DEVIATIONS = 4.0
"""Standard deviations of strangers by which a typical hit must stand out of them; a model that does not reach
this in a pair of languages (one that never learned Chinese) gets a scale on which little looks like a hit."""

_METHOD = "levels-2"


@dataclass(frozen=True, slots=True)
class Level:
    """Centred cosines of one model in one pair of languages, measured on the shipped texts."""

    stranger: float
    """Mean over prompts and passages on different subjects."""
    hit: float
    """Mean over prompts and the passages that answer them."""


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

    def likenesses(self, cosines: Cosines, asked: Sequence[str], held: Sequence[str]) -> Cosines:
        """Centred cosines (passages, queries) → how much each pair looks like a hit, on its languages' scale.

        0 is a stranger (or less), 1 a typical hit, and more is more.
        """
        import numpy as np

        of_language = [[self.levels[query, passage] for query in asked] for passage in LANGUAGES]
        table = np.array([[(level.stranger, level.hit) for level in row] for row in of_language])
        levels = table[[LANGUAGES.index(passage) for passage in held]]
        strangers, hits = levels[..., 0], levels[..., 1]
        alike: Cosines = np.maximum(0.0, cosines - strangers) / (hits - strangers)
        return alike

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
    prompts = {language: embed_queries(texts[language].prompts) for language in LANGUAGES}
    passages = {language: embed_passages(texts[language].passages) for language in LANGUAGES}
    query_means = {language: _mean(vectors) for language, vectors in prompts.items()}
    passage_means = {language: _mean(vectors) for language, vectors in passages.items()}
    queries = {language: _centre(prompts[language], [query_means[language]]) for language in LANGUAGES}
    held = {language: _centre(passages[language], [passage_means[language]]) for language in LANGUAGES}
    levels = {(a, b): _level(queries[a] @ held[b].T, texts[a], texts[b]) for a, b in _pairs()}
    return Calibration(fingerprint, query_means, passage_means, levels)


def _level(cosines: Vectors, asked: Texts, held: Texts) -> Level:
    """The level of centred cosines (prompts of one language, passages of another).

    Texts in other languages are strangers to their own kind only as far as they speak the same language: a German
    prompt is nearer to every German passage than to a Japanese one, and that nearness must not look like a hit.
    """
    import numpy as np

    same_subject = np.array([[a == b for b in held.subjects] for a in asked.subjects])
    same_tongue = np.array([[a == b for b in held.tongues] for a in asked.tongues])
    comparable = same_tongue if asked is held else np.ones_like(same_tongue)
    strangers, hits = cosines[comparable & ~same_subject], cosines[comparable & same_subject]
    stranger, deviation = float(strangers.mean()), float(strangers.std())
    return Level(stranger, max(float(hits.mean()), stranger + HIT_DEVIATIONS * deviation))


def _pairs() -> list[Pair]:
    return [(asked, held) for asked in LANGUAGES for held in LANGUAGES]


@cache
def shipped_calibration(fingerprint: str) -> Calibration | None:
    """The calibration that ships for this model and these texts (`make calibration`), or None."""
    data = read_bytes(shipped_name(fingerprint))
    return None if data is None else Calibration.from_bytes(data)


def shipped_name(fingerprint: str) -> str:
    """The file in `vaultmem.data` for the calibration of these vectors by these texts."""
    return f"calibration-{blake2b(calibration_key(fingerprint).encode(), digest_size=8).hexdigest()}.npz"


def calibration_key(fingerprint: str) -> str:
    """Under which name the calibration of these vectors is kept; other shipped texts make another name."""
    return f"{fingerprint}/{_texts_digest()}"


@dataclass(frozen=True, slots=True)
class Texts:
    """The shipped texts of one language; the same place is the same subject. Those of OTHER are of several."""

    subjects: tuple[str, ...]
    tongues: tuple[str, ...]
    prompts: tuple[str, ...]
    passages: tuple[str, ...]


@cache
def calibration_texts() -> Mapping[str, Texts]:
    """The shipped texts by language."""
    records = read_records("calibration.jsonl")
    subjects = tuple(record[ENGLISH]["prompt"] for record in records)
    both = {
        language: Texts(
            subjects,
            (language,) * len(records),
            tuple(record[language]["prompt"] for record in records),
            tuple(record[language]["passage"] for record in records),
        )
        for language in (CHINESE, ENGLISH)
    }
    others = read_records("calibration_others.jsonl")
    fields = (tuple(record[name] for record in others) for name in ("of", "lang", "prompt", "passage"))
    return {**both, OTHER: Texts(*fields)}


@cache
def _texts_digest() -> str:
    shipped = [[texts.prompts, texts.passages] for texts in calibration_texts().values()]
    return blake2b(json.dumps([_METHOD, shipped], ensure_ascii=False).encode(), digest_size=8).hexdigest()


def _mean(vectors: Vectors) -> Vectors:
    mean: Vectors = vectors.mean(axis=0, dtype="float64").astype("float32")
    return mean


def _centre(raw: Vectors, means: Sequence[Vectors]) -> Vectors:
    import numpy as np

    if not len(raw):
        return raw
    rest = (raw - np.stack(means)) * raw.any(axis=1, keepdims=True)  # a text the model failed on stays zero
    lengths = np.linalg.norm(rest, axis=1, keepdims=True)
    centred: Vectors = (rest / np.maximum(lengths, 1e-9)).astype(np.float32)
    return centred
