"""Cases with steps about text search. Each test carries its case's id."""

from __future__ import annotations

import os
import shutil
import time

import pytest

from tests.cases.steps import vaultmem
from vaultmem.engine.engine import Engine
from vaultmem.errors import UsageError
from vaultmem.search import ripgrep


def test_rg_empty_newline_a_query_without_content_or_of_several_lines_is_refused(world):
    world.note("a.md", "a", "foo\nbar\n")
    with Engine.open(world.root, world.state_dir, "none") as engine:
        for pattern in ("", "   ", "foo\nbar"):
            with pytest.raises(UsageError):
                engine.search(pattern)
    assert vaultmem(world, "search", "").returncode == 2


def test_rg_exit_codes_are_told_apart(world, monkeypatch, tmp_path):
    world.note("a.md", "a", "needle\n")
    with Engine.open(world.root, world.state_dir, "none") as engine:
        assert engine.search("nowhere").matches == ()
        with pytest.raises(UsageError):
            engine.search("(")
        program = ripgrep.find_rg()
        if program is None:
            pytest.skip("there is no ripgrep")
        half_blind = tmp_path / "rg"
        half_blind.write_text(
            f'#!/bin/sh\n"{program}" "$@"\necho "rg: ./b.md: Permission denied (os error 13)" >&2\nexit 2\n'
        )
        half_blind.chmod(0o755)
        monkeypatch.setattr(ripgrep, "find_rg", lambda: str(half_blind))
        found = engine.search("needle")
        assert [match.path for match in found.matches] == ["a.md"]
        assert any("Permission denied" in warning for warning in found.warnings)
    monkeypatch.undo()
    shutil.rmtree(world.root)
    assert vaultmem(world, "search", "needle").returncode == 3


def test_rg_missing_a_built_in_search_answers_in_the_same_form(world, monkeypatch):
    world.note("a.md", "a", "one\nneedle\nthree\n")
    with Engine.open(world.root, world.state_dir, "none") as engine:
        with_program = engine.search("needle").matches
        monkeypatch.setattr(ripgrep, "find_rg", lambda: None)
        assert engine.search("needle").matches == with_program
        assert engine.search("nowhere").matches == ()


def test_rg_stdin_an_open_pipe_is_not_waited_for(world):
    world.note("a.md", "a", "needle\n")
    read_end, write_end = os.pipe()
    try:
        started = time.monotonic()
        assert "needle" in vaultmem(world, "search", "needle", stdin=read_end).stdout
        os.write(write_end, b"the next request\n")
        assert os.read(read_end, 100) == b"the next request\n", "the search has eaten it"
        assert time.monotonic() - started < 20
    finally:
        os.close(read_end)
        os.close(write_end)
