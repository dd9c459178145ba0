"""When the dense table wants care, and the child process that does the heavy part of it.

To tidy merges the small files of recent edits, folds new rows into the indexes as one more segment, and removes old
versions. To rebuild makes the vector index anew over all rows and merges all files. Of a large table that takes
seconds and buffers as large as the table, which the allocator would not give back: a child process does it, while
this one goes on reading and writing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

INDEX_FROM_ROWS = 4_000
"""From here on a vector index pays: flat search is exact and as fast (4 ms) below, but its buffers stay in memory
(45 MB at 4,000 rows, 160 MB at 10,000; with the index 10 MB)."""

UNINDEXED_ROWS = 4_000
"""Rows outside the vector index are searched flat; more than this many are a reason to rebuild it."""

UNINDEXED_KEYS = 2_000
"""Rows outside the key index are scanned by every read of a note; more than this many are a reason to tidy."""

PRUNABLE_VERSIONS, PRUNABLE_OF_SMALL = 40, 6
"""Old versions (an edit makes two) that are a reason to tidy: each edit leaves a small file, and each of these adds
0.2 ms to a search and to a read of notes. Of a small table, which is tidied in an instant, they take many times what
its rows do."""

MOST_SEGMENTS = 6
"""Each tidying adds a segment to the vector index, and each segment 0.5 ms to a search; more than this many are a
reason to rebuild it as one."""

IN_CHILD_FROM_ROWS = 20_000
"""Below, a rebuild takes 0.4 s and 30 MB here and now, less than a child's start."""

DELETED_SHARE = 0.08
"""Tidying rewrites a file when a tenth of its rows are deleted. Of a large table the child does it a little before."""

BUILD_AGAIN_AFTER_S = 600.0
"""After a child that failed, the next one is not tried sooner."""

BUILD_WAIT_S = 120.0
"""How long closing waits for a child: 100,000 rows took 5 s on two busy cores."""


class Upkeep(StrEnum):
    """What a table wants."""

    NOTHING = "nothing"
    TIDY = "tidy"
    REBUILD = "rebuild"
    REBUILD_IN_CHILD = "rebuild in child"


@dataclass(frozen=True, slots=True)
class TableState:
    """What decides. `segments` is 0 while there is no vector index; `prunable_versions` are old enough to go."""

    rows: int
    deleted_rows: int
    prunable_versions: int
    unindexed_keys: int
    segments: int
    unindexed_rows: int


def wanted_upkeep(state: TableState) -> Upkeep:
    """What the table wants; pure."""
    is_large = state.rows >= IN_CHILD_FROM_ROWS
    if state.rows >= INDEX_FROM_ROWS and (_is_index_worn(state) or (is_large and _is_full_of_holes(state))):
        return Upkeep.REBUILD_IN_CHILD if is_large else Upkeep.REBUILD
    most = PRUNABLE_OF_SMALL if state.rows < INDEX_FROM_ROWS else PRUNABLE_VERSIONS
    if state.prunable_versions >= most or state.unindexed_keys >= UNINDEXED_KEYS:
        return Upkeep.TIDY
    return Upkeep.NOTHING


def _is_index_worn(state: TableState) -> bool:
    return not 1 <= state.segments <= MOST_SEGMENTS or state.unindexed_rows > UNINDEXED_ROWS


def _is_full_of_holes(state: TableState) -> bool:
    return state.deleted_rows > DELETED_SHARE * (state.rows + state.deleted_rows)


class IndexBuild:
    """A child process that rebuilds the index of `folder`. It dies with this process: it watches its stdin."""

    def __init__(self, folder: Path, dimension: int) -> None:
        package_home = str(Path(__file__).resolve().parents[2])
        paths = [package_home, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._child = subprocess.Popen(
            [sys.executable, "-m", "vaultmem.stores.dense_build", str(folder), str(dimension)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )

    @property
    def is_running(self) -> bool:
        """Whether the child is still at work."""
        return self._child.poll() is None

    def wait(self, timeout_s: float = BUILD_WAIT_S) -> bool:
        """Wait for the child, end it when the time is up, and return whether it did its work."""
        try:
            self._child.wait(timeout_s)
        except BaseException as error:
            self._child.kill()
            self._child.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
        if self._child.stdin is not None:
            with suppress(OSError):
                self._child.stdin.close()
        return self._child.returncode == 0
