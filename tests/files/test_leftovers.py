"""What killed writes leave behind: a writer is killed at each step, and no byte that somebody saved is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.files.disk import deep_chain, put
from vaultmem.files import leftovers, lost
from vaultmem.files.vault import Vault

KILLED_STEP = Path(__file__).parent / "programs" / "killed_step.py"


def beside(root: Path) -> list[str]:
    return sorted(name for name in os.listdir(root) if name not in ("n.md", ".vaultmem"))


def kill_at(root: Path, step: int, save: str) -> bool:
    """Let a process replace `n.md` and kill it at that call to the system; whether it came so far."""
    command = [sys.executable, KILLED_STEP, root, str(step), save]
    code = subprocess.run(command, check=False, timeout=60).returncode
    assert code in (0, -signal.SIGKILL)
    return code != 0


@pytest.mark.parametrize("save", ["", "saved"])
def test_a_write_killed_at_any_step_leaves_whole_notes_and_loses_nothing(root: Path, save: str) -> None:
    """`save`: what somebody else saves right before the exchange."""
    step, seen = 0, set[str]()
    while True:
        note = put(root, "n.md", "old")
        was_killed = kill_at(root, step, save)
        text = note.read_text()
        seen.add(text)
        assert text in {"old", "new", *filter(None, [save])}, "a torn note"
        assert set(Vault(root).scan().files) == {"n.md"}
        assert leftovers.sweep(root, older_than_s=600.0) == 0, "it could be a write that is under way"
        leftovers.sweep(root, older_than_s=-1.0)
        assert beside(root) == []
        kept = [version.data.decode() for version in lost.lost_versions(root)]
        assert kept in ([], [save]), "our own bytes, or the ones that were edited, are nothing that is lost"
        if save and text == "new":
            assert kept == [save], "somebody's save is gone"
        for version in lost.lost_versions(root):
            assert version.name == "n.md"
            (root / version.place).unlink()
        if not was_killed:
            break
        step += 1
    assert step > 8 and "old" in seen and ("new" in seen)


def test_what_a_kill_left_is_swept_in_deep_folders_too(root: Path) -> None:
    before = len(os.listdir("/dev/fd"))
    with deep_chain(root, 1_100) as last:
        os.close(os.open(".vaultmem-0123.tmp", os.O_CREAT | os.O_WRONLY, dir_fd=last))
        assert leftovers.sweep(root, older_than_s=-1.0) == 1
        assert os.listdir(last) == []
    assert len(os.listdir("/dev/fd")) == before


def test_folders_that_are_skipped_and_what_is_behind_links_are_left_alone(root: Path, tmp_path: Path) -> None:
    put(tmp_path, "outside/.vaultmem-0123.tmp")
    (root / "link").symlink_to(tmp_path / "outside")
    put(root, ".git/.vaultmem-0123.tmp")
    put(root, "a/other.tmp")
    assert leftovers.sweep(root, older_than_s=-1.0) == 0
    assert leftovers.sweep(tmp_path / "gone", older_than_s=-1.0) == 0
