"""Every failing input from a real bug report, through the command line: its right outcome, compared key by key.

`data/CASES.md` tells where each comes from. What the runner cannot drive is in `test_by_hand_*.py` or at the surfaces.
The runner has a process of its own: the memory that the system counts for a command includes what its parent had.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
VAULTMEM = Path(sys.executable).with_name("vaultmem")
FOLDERS = [path.parent for path in sorted(DATA.glob("*/expect.json"))]


def is_driven(folder: Path) -> bool:
    return "repro" not in json.loads((folder / "expect.json").read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("folder", [f for f in FOLDERS if is_driven(f)], ids=lambda folder: folder.name)
def test_case(folder: Path) -> None:
    command = [sys.executable, str(DATA / "run_cases.py"), str(DATA), "--vaultmem", str(VAULTMEM)]
    done = subprocess.run(
        [*command, "--only", folder.name, "--settle", "10", "--json"], capture_output=True, check=False
    )
    assert done.stdout, done.stderr.decode(errors="replace")
    (result,) = json.loads(done.stdout)["cases"]
    assert result["outcome"] != "FAIL", result["differences"]
    if result["outcome"] == "MANUAL":  # it needs a normal user, or a person at a terminal
        pytest.skip(result["reason"])
    assert result["compared"] > 0, result["reason"]
