"""The memory root to play with is the one of the engine's tests."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_spec = importlib.util.spec_from_file_location("worlds", Path(__file__).parents[1] / "engine" / "conftest.py")
assert _spec is not None and _spec.loader is not None
_worlds = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_worlds)

world = _worlds.world
