"""How a long-lived process treats the machine: threads of the embedding engines, priority, pauses."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from pathlib import Path

MAX_THREADS = 8


def default_threads() -> int:
    """How many threads an engine may use unless the settings say.

    One core stays free for whoever sits at the machine where there are three or more. With two, half of
    the speed would be too high a price, and the low priority of background work does it. The small model
    gains little from more than eight.
    """
    import psutil

    cores = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = min(cores, len(os.sched_getaffinity(0)))
    cores = max(1, min(cores, _container_cores()))
    return min(cores - 1 if cores > 2 else cores, MAX_THREADS)


def _container_cores() -> int:
    """The CPU share of a container, rounded up: threads beyond it would only be throttled."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text("ascii").split()
        return max(1, -(-int(quota) // int(period)))
    except (OSError, ValueError):
        return sys.maxsize


def prepare_threads(threads: int | None) -> int:
    """Set the thread count and how threads wait; call it before a library first loads, which reads them once.

    Without `threads` a count that the user's own OMP_NUM_THREADS names is kept. Returns the count.
    """
    if threads is None and os.environ.get("OMP_NUM_THREADS", "").isdecimal():
        threads = int(os.environ["OMP_NUM_THREADS"])
    count = max(1, threads or default_threads())
    os.environ["OMP_NUM_THREADS"] = str(count)
    os.environ["OMP_WAIT_POLICY"] = (
        "passive"  # on shared cores, spinning at each barrier is four times slower
    )
    return count


def lower_priority(nice: int = 10) -> None:
    """Let the calling thread give way to whatever a person is doing at the machine.

    On Linux this holds for the thread and those it starts later, elsewhere for the process. It cannot be
    taken back. A system that refuses is left as it is.
    """
    with suppress(AttributeError, OSError):
        os.nice(nice)


def settle_garbage_collector() -> None:
    """Let the collector forget what a warm process has loaded for good.

    It would walk through all of the libraries again and again: a pause of 70 to 100 ms in every tenth recall.
    """
    gc.collect()
    gc.freeze()
