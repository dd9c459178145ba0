"""How the suite is shared out: a worker that has nothing left takes from the one that has most."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """What `--dist worksteal` does, for whoever asked for `-n` alone.

    xdist's own choice gives each worker an eighth of the suite beforehand: the one with the cases' processes was at
    it for minutes after the other had nothing left to do.
    """
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)
