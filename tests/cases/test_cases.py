"""Every failing input from a real bug report, through the command line: its right outcome, compared key by key.

`data/CASES.md` tells where each comes from. What the runner cannot drive is in `test_by_hand_*.py` or at the surfaces.
The runner has a process of its own: the memory that the system counts for a command includes what its parent had.
=======
`data/CASES.md` tells where each comes from. What the runner cannot drive is in `test_by_hand.py` or with the surfaces.
A warm process forks the commands of most cases: starting each would take more than twice as long. Those that speak of a
process itself, and one case of every kind, start it; with `VAULTMEM_CASES=started` all of them do. Even then the runner
has a process of its own: the memory that the system counts for a command includes what its parent had.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parent / "data"
VAULTMEM = Path(sys.executable).with_name("vaultmem")
EXPECTED = {
    path.parent: expected
    for path in sorted(DATA.glob("*/expect.json"))
    if "repro" not in (expected := json.loads(path.read_text("utf-8")))
}
ABOUT_PROCESSES = {"env", "max_rss_mb", "max_extra_mb", "max_seconds", "scan_s"}
"""Keys that speak of how a process starts, or what it takes."""


def is_started(folder: Path) -> bool:
    """Its commands are processes as a person starts them: where that matters, and in one case of every kind."""
    last_of_kind = {expect["kind"]: other for other, expect in EXPECTED.items()}
    return bool(
        ABOUT_PROCESSES & keys_in(EXPECTED[folder])
        or folder in last_of_kind.values()
        or os.environ.get("VAULTMEM_CASES") == "started"
    )


def keys_in(value: object) -> set[str]:
    """The keys of a document, at every depth."""
    if not isinstance(value, dict):
        return set()
    return set(value).union(*map(keys_in, value.values()))


@pytest.fixture(scope="session")
def run_warm() -> Iterator[Callable[[Path], Any]]:
    """Runs a case in the one process that forks its commands, which is quicker than to start them."""
    command = [sys.executable, str(Path(__file__).with_name("warm.py")), str(DATA), str(VAULTMEM)]
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, encoding="utf-8", **pipes) as process:
        assert process.stdin is not None and process.stdout is not None

        def run(folder: Path) -> Any:
            print(folder, file=process.stdin, flush=True)
            for line in process.stdout:
                result = json.loads(line)
                if result["id"] == folder.name:  # and not that of a case which took too long
                    return result
            pytest.fail("the runner ended")

        yield run
        process.stdin.close()


def run_started(folder: Path) -> Any:
    command = [sys.executable, str(DATA / "run_cases.py"), str(DATA), "--vaultmem", str(VAULTMEM)]
    done = subprocess.run(
        [*command, "--only", folder.name, "--settle", "10", "--json"], capture_output=True, check=False
    )
    assert done.stdout, done.stderr.decode(errors="replace")
    (result,) = json.loads(done.stdout)["cases"]
    return result


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("folder", EXPECTED, ids=lambda folder: folder.name)
def test_case(folder: Path, run_warm: Callable[[Path], Any]) -> None:
    result = run_started(folder) if is_started(folder) else run_warm(folder)
    assert result["outcome"] != "FAIL", result["differences"]
    if result["outcome"] == "MANUAL":  # it needs a normal user, or a person at a terminal
        pytest.skip(result["reason"])
    assert result["compared"] > 0, result["reason"]
