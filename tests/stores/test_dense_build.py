"""The child process that rebuilds a vector index."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.stores.rows import DIMENSION, filled, state
from vaultmem.stores import dense_build


def build(folder: Path, dimension: int = DIMENSION) -> int:
    """The exit code of a child that was let to its end."""
    command = [sys.executable, "-m", dense_build.__name__, str(folder), str(dimension)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
        return child.wait(timeout=60)


def test_the_child_leaves_an_index_over_all_rows(tmp_path: Path) -> None:
    store = filled(tmp_path, 80)
    assert state(store).segments == 0
    assert build(tmp_path) == 0
    assert (state(store).segments, state(store).unindexed_rows) == (1, 0)


def test_a_store_that_cannot_be_used_is_said_by_the_exit_code(tmp_path: Path) -> None:
    filled(tmp_path, 1).close()
    assert build(tmp_path, DIMENSION + 1) == 1


def test_a_child_dies_with_its_parent(peer: Callable) -> None:
    child = peer("waiting_build")
    assert child.hear() == "waiting"
    child.hang_up()
    assert child.process.wait(timeout=30) == 2
