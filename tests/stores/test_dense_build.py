"""The child process that rebuilds a vector index."""

from __future__ import annotations

from collections.abc import Callable


def test_a_child_dies_with_its_parent(peer: Callable) -> None:
    child = peer("waiting_build")
    assert child.hear() == "waiting"
    child.hang_up()
    assert child.process.wait(timeout=30) == 2
