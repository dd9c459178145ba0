"""A note that is none: hundreds of megabytes beside a memory. It costs no memory of the machine, and stays known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

COMMAND_MEMORY = Path(__file__).parent / "programs" / "command_memory.py"
LIMIT_MIB = 300


def mib_of(*words: str) -> int:
    done = subprocess.run(
        [sys.executable, str(COMMAND_MEMORY), *words], capture_output=True, text=True, timeout=300, check=True
    )
    code, mib = done.stdout.split()
    assert code in ("0", "1"), done.stderr  # 1: doctor has something to say of the note
    return int(mib)


@pytest.fixture
def large(shell) -> None:
    """250 MB, a line of 64 characters each."""
    file = shell.note("big.md", "big", "needle at the top\n")
    with file.open("ab") as stream:
        for _ in range(250):
            stream.write((b"x" * 63 + b"\n") * 15_625)
    shell.note("a.md", "a", "needle\n")
    yield
    file.unlink()  # the folders of the last runs are kept


def test_250_megabytes_cost_no_more_than_a_sync_takes_anyway(shell, large):
    assert mib_of("sync") < LIMIT_MIB
    assert mib_of("sync", "--full") < LIMIT_MIB
    notes = {note["id"]: note for note in shell.json("notes")}
    assert "too_large" in notes["big"]["diagnostics"] and notes["big"]["admitted"]
    assert mib_of("recall", "needle") < LIMIT_MIB
    assert mib_of("search", "needle", "--limit", "5") < LIMIT_MIB
    assert mib_of("doctor") < LIMIT_MIB
    assert mib_of("tag", "big", "--add", "new") < LIMIT_MIB
    refused = shell("tag", "big", "--add", "new")
    assert refused.code == 1 and "big.md has 250 MB" in refused.complaint
    assert shell("tag", "a", "--add", "new").code == 0
    assert {hint["id"] for hint in shell.json("search", "needle")} == {"a", "big"}
