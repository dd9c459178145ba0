"""Every failing input from a real bug report, through the command line: its right outcome, compared key by key.

`data/CASES.md` tells where each comes from. What the runner cannot drive is in `test_by_hand.py` or with the surfaces.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
VAULTMEM = [str(Path(sys.executable).with_name("vaultmem"))]


def load_runner():
    spec = importlib.util.spec_from_file_location("run_cases", DATA / "run_cases.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["run_cases"] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def is_driven(folder: Path) -> bool:
    expect = json.loads((folder / "expect.json").read_text("utf-8"))
    return "repro" not in expect


FOLDERS = [path.parent for path in sorted(DATA.glob("*/expect.json"))]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("folder", [f for f in FOLDERS if is_driven(f)], ids=lambda folder: folder.name)
def test_case(folder: Path) -> None:
    result = load_runner().run_case(folder, VAULTMEM, settle=10.0)
    assert result.outcome != "FAIL", result.differences
    if result.outcome == "MANUAL":  # it needs a normal user, or a person at a terminal
        pytest.skip(result.reason)
    assert result.compared > 0, result.reason
