"""`make snapshots` accepts pictures from the pinned Textual alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHOSEN = ["tests/test_snapshot_update.py", "-k", "nothing_is_chosen", "-q", "-p", "no:cacheprovider"]

OTHER_TEXTUAL = """
import importlib.metadata
original = importlib.metadata.version
importlib.metadata.version = lambda name: "0.1.0" if name == "textual" else original(name)
"""


def run(*words: str, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", *CHOSEN, *words]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environ}, capture_output=True, text=True, check=False
    )


def test_another_textual_accepts_no_picture_and_says_which_would(tmp_path: Path) -> None:
    (tmp_path / "other_textual.py").write_text(OTHER_TEXTUAL, "utf-8")
    done = run("-p", "other_textual", "--snapshot-update", environ={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "and this is 0.1.0: pip install -c constraints.txt textual" in done.stderr
    assert "Traceback" not in done.stderr


def test_another_textual_may_still_compare(tmp_path: Path) -> None:
    (tmp_path / "other_textual.py").write_text(OTHER_TEXTUAL, "utf-8")
    done = run("-p", "other_textual", environ={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout + done.stderr
