"""The clock of the machine, as a test wants it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def in_zone(zone: str) -> Iterator[None]:
    """This process in another time zone, as POSIX writes one: `CST-8` is eight hours before UTC."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "TZ", zone)
        time.tzset()
        try:
            yield
        finally:
            patch.undo()
            time.tzset()
