"""What holds for every test: pictures of the dashboard are accepted only from the Textual that is pinned."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest

CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"


def pytest_configure(config: pytest.Config) -> None:
    """Refuse `--snapshot-update` under another Textual: every picture would change, for no change of ours."""
    if config.getoption("update_snapshots", default=False):
        pinned, here = pinned_version("textual"), version("textual")
        if here != pinned:
            raise pytest.UsageError(
                f"snapshots are drawn with Textual {pinned}, and this is {here}: "
                f"pip install -c {CONSTRAINTS.name} textual"
            )


def pinned_version(name: str) -> str:
    """The version that `constraints.txt` names."""
    (found,) = re.findall(rf"^{name}==(\S+)$", CONSTRAINTS.read_text("utf-8"), flags=re.M)
    return str(found)
