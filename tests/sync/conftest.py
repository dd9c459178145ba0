"""The caches of a world and its memory root, as sync is given them: no engine between."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.worlds import World
from vaultmem.files.vault import Vault
from vaultmem.stores.caches import Caches


@pytest.fixture
def vault(world: World) -> Vault:
    return Vault(world.root)


@pytest.fixture
def caches(world: World) -> Iterator[Caches]:
    opened = Caches(world.state_dir, writable=True)
    yield opened
    opened.close()
