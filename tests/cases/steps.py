"""What the cases with steps share: an engine that follows a root, one command, and waiting for a condition."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from vaultmem.config import Config
from vaultmem.engine.engine import Engine

PROGRAMS = Path(__file__).parent / "programs"
VAULTMEM = [sys.executable, "-m", "vaultmem"]


def wait_until(holds: Callable[[], object], within_s: float = 20.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.01)


@contextlib.contextmanager
def following(world, **settings: Any) -> Iterator[tuple[Engine, list[Any]]]:
    """An engine that follows the root without a periodic scan, unless `settings` ask for one; and what it told."""
    options = {"scan_interval_s": 3_600.0, "dirty_check_s": 3_600.0, "debounce_ms": 30, **settings}
    config = Config(world.root, world.state_dir, **options)
    events: list[Any] = []
    with Engine.open(config=config, embedder="none", hold=True) as engine:
        engine.subscribe(events.append)
        engine.follow()
        wait_until(lambda: engine.status().state == "idle")
        yield engine, events


def on_record(engine: Engine) -> set[str | None]:
    with engine.parts.access.reader() as caches:
        return {known.id for known in caches.catalog.known().values()}


def vaultmem(world, *words: str, within_s: float = 60.0, **options: Any) -> subprocess.CompletedProcess[str]:
    """One command of the command line, without a model."""
    environment = {
        **os.environ,
        "MARCH_MEMORY_ROOT": str(world.root),
        "VAULTMEM_STATE_DIR": str(world.state_dir),
        "VAULTMEM_EMBEDDER": "none",
        "HOME": str(world.folder),
    }
    options = {"stdin": subprocess.DEVNULL, "env": environment, **options}
    return subprocess.run(
        [*VAULTMEM, *words], capture_output=True, text=True, timeout=within_s, check=False, **options
    )
