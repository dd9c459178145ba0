"""`vaultmem eval` where it cannot work: one clear line, before anything is opened or measured."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from vaultmem.cli.main import run
from vaultmem.cli.output import CANNOT_WORK
from vaultmem.engine.engine import Engine

QUERY = '{"query": "why?", "relevant": ["a"], "kind": "positive"}\n'


@pytest.fixture
def golden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A golden set, in a place where no engine may be opened."""
    file = tmp_path / "golden.jsonl"
    file.write_text(QUERY, "utf-8")
    monkeypatch.setattr(Engine, "open", lambda *_, **__: pytest.fail("an engine was opened"))
    return str(file)


def test_without_its_extra_it_names_the_install_command(
    golden: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    assert run(["eval", golden]) == CANNOT_WORK
    said = capsys.readouterr()
    assert said.out == ""
    first, second = said.err.splitlines()
    assert first.startswith("vaultmem: evaluation needs the extra `eval`")
    assert "pip install 'march-vaultmem[eval]'" in second


@pytest.mark.parametrize("name", ["scores.png", "scores", ""])
def test_a_picture_of_another_kind_is_refused_with_the_right_form(
    golden: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["eval", golden, "--plot", str(tmp_path / name)]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.splitlines()[1]) == ("", "  --plot scores.svg")


def test_a_picture_in_a_folder_that_is_not_there_is_refused(
    golden: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["eval", golden, "--plot", str(tmp_path / "none" / "a.svg")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_a_golden_set_has_to_be_named(golden: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "which golden set?" in said.err and "--from-vault" in said.err


def test_a_set_is_not_proposed_over_a_file_that_is_there(
    golden: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["eval", golden, "--from-vault"]) == 1
    assert "is there already" in capsys.readouterr().err
    assert Path(golden).read_text("utf-8") == QUERY
