"""Text search by each of its engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.search.folders import Search
from vaultmem.search.lines import Matches
from vaultmem.search.ripgrep import find_rg, search_files

RG = find_rg()


@pytest.fixture(params=["rg", "python"])
def find(request: pytest.FixtureRequest, tmp_path: Path) -> Search:
    """Search the test's folder with one engine."""
    if request.param == "rg" and RG is None:
        pytest.skip("no rg here")

    def run(pattern: str, **options: object) -> Matches:
        root = options.pop("root", tmp_path)
        found = search_files(root, pattern, rg=RG if request.param == "rg" else None, **options)  # type: ignore[arg-type]
        assert found.engine == request.param
        return found

    return run
