"""What tests of several stores use: programs beside this one, and a catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.stores.peers import Peer
from vaultmem.stores.catalog import Catalog


@pytest.fixture
def peer() -> Iterator[Callable[..., Peer]]:
    """Start programs by their names; what still runs at the end of the test is killed."""
    started: list[Peer] = []

    def start(program: str, *arguments: object) -> Peer:
        started.append(Peer(program, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.kill()


@pytest.fixture
def catalog(tmp_path: Path):
    catalog = Catalog(tmp_path / "catalog.sqlite", writable=True)
    yield catalog
    catalog.close()
