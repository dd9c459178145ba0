"""Beside somebody who saves the same note, by rename and in place: each save stands, or is kept and told of."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.files.disk import put
from vaultmem.files import lost
from vaultmem.files.vault import Vault

ENDLESS_EDITS = Path(__file__).parent / "programs" / "endless_edits.py"
SAVES = int(os.environ.get("VAULTMEM_SAVES", "150"))
FILLING = b"x" * 20_000


@contextlib.contextmanager
def editing(root: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process of ours that edits the note all the time."""
    with subprocess.Popen([sys.executable, ENDLESS_EDITS, root], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == b"ready\n"
            yield process
            assert process.poll() is None, "the editing process ended"
        finally:
            process.send_signal(signal.SIGKILL)


def save(file: Path, number: int, chance: random.Random) -> None:
    """What an editor does: read, change, save."""
    text = re.sub(rb"save \d*", b"save %d" % number, file.read_bytes())
    if chance.random() < 0.5:
        (file.parent / "editor.tmp").write_bytes(text)
        (file.parent / "editor.tmp").replace(file)
        return
    with file.open("r+b", buffering=0) as opened:
        opened.truncate()
        for start in range(0, len(text), 4_096):
            opened.write(text[start : start + 4_096])


def is_whole(text: bytes) -> bool:
    return re.fullmatch(rb"edit \d+ save \d+ x{20000}", text) is not None


def saved(root: Path) -> set[int]:
    """The saves that stand, in the note or kept apart."""
    texts = [(root / "n.md").read_bytes(), *(version.data for version in lost.lost_versions(root))]
    return {int(found[1]) for text in texts if (found := re.search(rb"save (\d+)", text))}


def wait_for(root: Path, number: int) -> None:
    deadline = time.monotonic() + 30.0
    while number not in saved(root):
        assert time.monotonic() < deadline, f"save {number} is gone"
        time.sleep(0.001)


@pytest.mark.timeout(600)
def test_no_save_of_another_program_is_lost_beside_an_edit(root: Path) -> None:
    chance = random.Random(20260514)
    file = put(root, "n.md", "edit 0 save 0 " + FILLING.decode())
    with editing(root):
        for number in range(1, SAVES):
            save(file, number, chance)
            time.sleep(chance.uniform(0.0, 0.01))
            wait_for(root, number)
    Vault(root).sweep_leftovers(older_than_s=-1.0)
    assert is_whole(file.read_bytes()) and sorted(os.listdir(root)) == [".vaultmem", "n.md"]


@pytest.mark.timeout(600)
def test_no_save_is_lost_when_the_edit_is_killed_in_the_middle(root: Path) -> None:
    chance = random.Random(20260515)
    file = put(root, "n.md", "edit 0 save 0 " + FILLING.decode())
    number = 0
    for _ in range(max(10, SAVES // 10)):
        with editing(root) as process:
            for _ in range(4):
                number += 1
                save(file, number, chance)
                if chance.random() < 0.5:
                    time.sleep(chance.uniform(0.0, 0.01))
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.poll = lambda: None  # type: ignore[method-assign]  # it was meant to end
        Vault(root).sweep_leftovers(older_than_s=-1.0)
        assert number in saved(root), f"save {number} is gone"
        assert is_whole(file.read_bytes()) and set(Vault(root).scan().files) == {"n.md"}
