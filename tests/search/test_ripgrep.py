"""The search by the `rg` program: which one is taken, what it says, and what becomes of one that cannot be used.

What it finds is in test_same_matches.py.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.search.folders import places, put
from vaultmem.errors import RootMissingError, UsageError
from vaultmem.search.lines import TOO_LONG
from vaultmem.search.ripgrep import find_rg, search_files

RG = find_rg()
SEARCH_MEMORY = Path(__file__).parent / "programs" / "search_memory.py"
NEEDLE_COUNT = Path(__file__).parent / "programs" / "needle_count.py"


@pytest.mark.skipif(RG is None, reason="no rg here")
def test_ripgreps_own_words_are_shown(tmp_path: Path) -> None:
    for pattern, words in (
        ("(", "unclosed group"),
        ("a\\n", 'literal "\\n" is not allowed'),
        ("(?=x)", "look-around"),
    ):
        with pytest.raises(UsageError, match=re.escape(words)):
            search_files(tmp_path, pattern, rg=RG)


def test_a_missing_root_is_an_error(tmp_path: Path) -> None:
    for rg in (RG, None):
        with pytest.raises(RootMissingError):
            search_files(tmp_path / "none", "x", rg=rg)


def program(folder: Path, script: str) -> str:
    path = folder / "bin" / "rg"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_rg_is_looked_for_on_the_path_and_then_beside_this_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = program(tmp_path, "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_rg() == mine
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    assert find_rg() == mine
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert find_rg() is None
    put(tmp_path, "a.md", "needle\n")
    assert search_files(tmp_path, "needle").engine == "python"


@pytest.mark.parametrize(
    "script", ["echo 'error: Found argument --sortr' >&2; exit 2", "exec /no/such/program", "kill -9 $$"]
)
def test_a_program_that_is_no_usable_rg_is_replaced_and_named(tmp_path: Path, script: str) -> None:
    root = tmp_path / "root"
    put(root, "a.md", "needle\n")
    found = search_files(root, "needle", rg=program(tmp_path, script))
    assert (places(found), found.engine) == ([("a.md", 1)], "python")
    assert "is not a ripgrep that can be used" in found.warnings[0]


def test_a_program_that_cannot_start_is_replaced_and_named(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "needle\n")
    for rg in (str(tmp_path / "none"), str(tmp_path / "a.md")):
        found = search_files(tmp_path, "needle", rg=rg)
        assert (places(found), found.engine) == ([("a.md", 1)], "python")


@pytest.mark.skipif(RG is None, reason="no rg here")
def test_an_unreadable_note_is_a_warning_beside_the_matches(tmp_path: Path) -> None:
    root = tmp_path / "root"
    put(root, "a.md", "needle\n")
    complaint = (
        "echo 'rg: ./2026/no.md: Permission denied (os error 13)' >&2;"
        "echo 'rg: ./dir: IO error for operation on ./dir: Permission denied (os error 13)' >&2"
    )
    wrapped = program(
        tmp_path, f'case "$*" in *"-- ./") {complaint}; "{RG}" "$@"; exit 2;; esac; exec "{RG}" "$@"'
    )
    denied = ("2026/no.md: Permission denied", "dir: Permission denied")
    found = search_files(root, "needle", rg=wrapped)
    assert (places(found), found.warnings) == ([("a.md", 1)], denied)
    found = search_files(root, "nothing", rg=wrapped)
    assert (found.matches, found.warnings) == ((), denied)


@pytest.mark.skipif(RG is None, reason="no rg here")
def test_many_warnings_are_told_in_few_lines(tmp_path: Path) -> None:
    root = tmp_path / "root"
    put(root, "a.md", "needle\n")
    loop = 'for i in 1 2 3 4 5 6 7 8; do echo "rg: ./$i.md: Permission denied (os error 13)" >&2; done'
    found = search_files(root, "needle", rg=program(tmp_path, f'{loop}; "{RG}" "$@"; exit 2'))
    assert found.warnings[4:] == ("5.md: Permission denied", "and 3 more")


def test_a_search_that_takes_too_long_is_stopped_and_says_so(tmp_path: Path) -> None:
    root = tmp_path / "root"
    put(root, "a.md", "needle\n")
    found = search_files(root, "needle", rg=program(tmp_path, "exec sleep 60"), timeout_s=0.2)
    assert (found.matches, found.warnings) == ((), (TOO_LONG,))
    assert search_files(root, "needle", rg=None, timeout_s=-1).warnings == (TOO_LONG,)


def test_an_open_stdin_is_neither_waited_for_nor_eaten(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "needle\n")
    with subprocess.Popen(
        [sys.executable, NEEDLE_COUNT, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write("still here\n")
        child.stdin.flush()
        assert child.stdout.readline() == "1 still here\n"


def test_a_line_that_is_not_in_the_file_that_we_open_is_not_shown(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    put(outside, "x.md", "needle outside\n")
    put(root, "true.md", "one\nneedle inside\n")
    put(root, "changed.md", "something else\n")
    (root / "link").symlink_to(outside)
    (root / "link.md").symlink_to(outside / "x.md")
    printed = (
        r"true.md\0001-0-one\ntrue.md\0002:4:needle inside\nlink/x.md\0001:0:needle outside\n"
        r"link.md\0001:0:needle outside\nchanged.md\0001:0:needle before\nnone.md\0001:0:needle\n"
    )
    found = search_files(root, "needle", rg=program(tmp_path, f"printf '{printed}'"))
    assert [(match.path, match.text, match.before) for match in found.matches] == [
        ("true.md", "needle inside", ("one",))
    ]
    said = dict(warning.split(": ", 1) for warning in found.warnings)
    assert sorted(said) == ["changed.md", "link.md", "link/x.md", "none.md"]
    assert "link" in said["link.md"] and "link" in said["link/x.md"] and "changed" in said["changed.md"]


@pytest.mark.parametrize("engine", ["rg", "python"])
def test_a_hole_of_two_gigabytes_costs_no_memory_and_hides_no_other_note(tmp_path: Path, engine: str) -> None:
    if engine == "rg" and RG is None:
        pytest.skip("no rg here")
    put(tmp_path, "hole.md", "needle in the hole\n")
    os.truncate(tmp_path / "hole.md", 2 << 30)
    put(tmp_path, "a.md", "needle\n")
    done = subprocess.run(
        [sys.executable, str(SEARCH_MEMORY), str(tmp_path), RG or "" if engine == "rg" else ""],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["places"] == [["a.md", 1]] and found["engine"] == engine
    assert found["warnings"] == ["hole.md: not searched, it is larger than 256 MiB"]
    assert found["mib"] < 300 and found["children_mib"] < 300
