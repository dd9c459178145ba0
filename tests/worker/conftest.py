"""A fake engine, in a machine whose sockets lie in a folder of their own, and a client of its worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.worker.served import FakeEngine, serving
from vaultmem.worker.client import WorkerClient


@pytest.fixture
def engine(tmp_path: Path, runtime_dir: Path) -> FakeEngine:
    return FakeEngine(tmp_path / "root", tmp_path / "state")


@pytest.fixture
def client(engine: FakeEngine) -> Iterator[WorkerClient]:
    with serving(engine):
        found = WorkerClient.connect(engine.config)
        assert found is not None
        yield found
