"""The search by Python. That it finds what ripgrep finds is in test_same_matches.py."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.search.folders import places, put
from vaultmem.errors import UsageError
from vaultmem.files import beneath
from vaultmem.search.fallback import search_by_python
from vaultmem.search.lines import TOO_LONG, Pattern, Wanted


def wanted(root: Path, pattern: str, limit: int = 20, deadline: float = math.inf) -> Wanted:
    return Wanted(root, Pattern.of(pattern), limit, 0, lambda path: True, deadline, 1_000)


def test_its_expressions_are_pythons(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "one needle\ntwo needle\nbee bee\n")
    assert places(search_by_python(wanted(tmp_path, "(?<=two )needle"))) == [("a.md", 2)]
    assert places(search_by_python(wanted(tmp_path, r"(bee) \1"))) == [("a.md", 3)]
    with pytest.raises(UsageError, match="Python cannot read this regular expression"):
        search_by_python(wanted(tmp_path, r"\p{Han}"))


def test_the_warnings_that_it_is_given_come_before_its_own(tmp_path: Path) -> None:
    found = search_by_python(wanted(tmp_path / "none", "needle"), "there is no rg")
    assert found.matches == ()
    assert found.warnings == ("there is no rg", ".: No such file or directory")


def test_after_the_deadline_no_note_is_read(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "needle\n")
    found = search_by_python(wanted(tmp_path, "needle", deadline=time.monotonic() - 1))
    assert (found.matches, found.warnings, found.engine) == ((), (TOO_LONG,), "python")


def test_a_note_that_goes_away_is_a_warning_beside_the_others(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "needle\n")
    put(tmp_path, "b.md", "needle\n")
    put(tmp_path, "c.md", "needle\n")

    def keep(path: str) -> bool:
        (tmp_path / "b.md").unlink(missing_ok=True)
        return True

    found = search_by_python(replace(wanted(tmp_path, "needle"), keep=keep))
    assert places(found) == [("c.md", 1), ("a.md", 1)]
    assert found.warnings == ("b.md: No such file or directory",)


def test_notes_that_the_limit_leaves_out_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.md", "b.md", "c.md"):
        put(tmp_path, name, "needle\n")
    asked: list[str] = []
    opened = beneath.open_file

    def noted(root: Path, path: str) -> int:
        asked.append(path)
        return opened(root, path)

    monkeypatch.setattr(beneath, "open_file", noted)
    assert places(search_by_python(wanted(tmp_path, "needle", limit=1))) == [("c.md", 1)]
    assert "c.md" in asked and "a.md" not in asked
