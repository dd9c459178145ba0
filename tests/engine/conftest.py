"""Engines that tests of several modules ask."""

from __future__ import annotations

import pytest

from tests.engine.asking import HOUR_S, open_plain
from vaultmem.config import Config
from vaultmem.engine.parts import Parts


@pytest.fixture
def engine(world):
    with open_plain(world) as engine:
        yield engine


@pytest.fixture
def settled(world):
    """An engine that looked at the files when the test began and does not look again by itself."""
    world.note("a.md", "a", "alpha cache\n")
    world.note("b.md", "b", "beta order\n")
    with open_plain(world, look_every_s=HOUR_S) as engine:
        engine.sync()
        yield engine


@pytest.fixture
def parts(world):
    config = Config(world.root, world.state_dir)
    made = Parts.of(config, world.embedder, hold=True, wake=lambda: None, is_scanning=lambda: False)
    yield made
    made.access.close()


@pytest.fixture
def synced(world):
    """A world with three memories in both stores."""
    for name in ("a", "b", "c"):
        world.note(f"{name}.md", name, f"alpha {name}\n")
    world.sync()
    return world
