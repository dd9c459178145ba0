"""What the benchmarks share: a figure beside its bar, notes to measure with, whole processes to time."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

VAULTMEM = str(Path(sys.executable).with_name("vaultmem"))
PROCESS_TIMEOUT_S = 300


def bar(name: str, value: float, limit: float, detail: str = "", *, at_least: bool = False) -> None:
    """Print a figure beside its bar, and fail when it is missed."""
    holds = value >= limit if at_least else value <= limit
    sign = ">=" if at_least else "<="
    print(f"\n{'BAR ' if holds else 'MISS'} {name}: {value:.3f} ({sign} {limit:g}) {detail}")
    assert holds, name


def p50(values: Sequence[float]) -> float:
    """The median."""
    return float(np.quantile(values, 0.5))


def p95(values: Sequence[float]) -> float:
    """What nineteen in twenty do not exceed."""
    return float(np.quantile(values, 0.95))


def write_note(
    root: Path,
    number: int,
    body: str,
    *,
    name: str = "",
    description: str = "",
    tag: str = "t",
    folder: str | None = None,
) -> Path:
    """Write the memory `mem_NUMBER`, in one of 12 dated folders unless the folder is said."""
    place = root / (f"2026/{number % 12 + 1:02}/week{number % 4 + 1}" if folder is None else folder)
    place.mkdir(parents=True, exist_ok=True)
    file = place / f"n{number}.md"
    file.write_text(
        f"---\nid: mem_{number}\nname: {name or f'Memory {number}'}\n"
        f"description: {description or f'what memory {number} is about'}\n"
        f"tags: [{tag}]\nstatus: active\n---\n{body}\n",
        encoding="utf-8",
    )
    return file


def timed(
    words: Sequence[str], data: bytes = b"", environ: Mapping[str, str] | None = None
) -> tuple[float, bytes]:
    """Seconds that a whole process took, and its stdout. One that fails has no figure."""
    started = time.perf_counter()
    done = subprocess.run(
        words, input=data, env=environ, capture_output=True, check=False, timeout=PROCESS_TIMEOUT_S
    )
    seconds = time.perf_counter() - started
    assert done.returncode == 0, f"{words} ended with {done.returncode}: {done.stderr[-500:].decode()}"
    return seconds, done.stdout
