"""The score histogram of an evaluation as an SVG picture: plain text, so no library draws it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from vaultmem.errors import UsageError
from vaultmem.evaluation.evaluation import Evaluation
from vaultmem.evaluation.figures import Threshold
from vaultmem.evaluation.report import BINS, score_bins

WIDTH, HEIGHT = 960, 540
LEFT, TOP, RIGHT, BOTTOM = 70, 60, WIDTH - 30, HEIGHT - 60
STEPS = 4  # of the vertical axis
PAPER, INK, GRID = "#ffffff", "#222222", "#dddddd"
HITS, STRANGERS, CURRENT, BEST = "#2a7f62", "#c8553d", "#222222", "#8a8a8a"
LEGEND_COLUMN = 220
ENDING = ".svg"


def check_picture(path: Path) -> None:
    """Raise UsageError where no picture can lie: told before anything is measured, not after."""
    if path.suffix.lower() != ENDING:
        raise UsageError(f"the histogram is an SVG picture: {path} cannot be one", advice="--plot scores.svg")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {path.parent}")


def save_histogram(evaluation: Evaluation, path: Path) -> None:
    """Write the histogram. Raises UsageError when the file cannot be written, or is not to be an SVG picture."""
    check_picture(path)
    try:
        path.write_text(histogram_svg(evaluation), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def histogram_svg(evaluation: Evaluation) -> str:
    """Relevant memories and strangers side by side, with the thresholds as lines; an SVG document."""
    hits, strangers = score_bins(evaluation)
    most = STEPS * math.ceil(max(*hits, *strangers, 1) / STEPS)
    shapes = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="16" fill="{INK}">',
        "<title>Scores of relevant memories, and of the best memory for an off-topic prompt</title>",
        _rectangle(0, 0, WIDTH, HEIGHT, PAPER),
        *_axes(most),
        *_bars(hits, most, HITS, 0.08),
        *_bars(strangers, most, STRANGERS, 0.52),
        *_thresholds(evaluation.threshold),
        *_legend(evaluation.threshold),
        "</svg>",
    ]
    return "\n".join(shapes) + "\n"


def _axes(most: int) -> Iterator[str]:
    for step in range(STEPS + 1):
        y = BOTTOM - (BOTTOM - TOP) * step / STEPS
        yield _line(LEFT, y, RIGHT, y, GRID, 1)
        yield _text(LEFT - 12, y + 6, f"{most * step // STEPS}", "end")
    for step in range(11):
        yield _text(LEFT + (RIGHT - LEFT) * step / 10, BOTTOM + 24, f"{step / 10:.1f}", "middle")
    yield _text((LEFT + RIGHT) / 2, BOTTOM + 48, "score", "middle")


def _bars(counts: Sequence[int], most: int, colour: str, offset: float) -> Iterator[str]:
    width = (RIGHT - LEFT) / BINS
    for number, count in enumerate(counts):
        if count:
            height = (BOTTOM - TOP) * count / most
            yield _rectangle(
                LEFT + (number + offset) * width, BOTTOM - height, 0.4 * width, height, colour, f"{count}"
            )


def _thresholds(threshold: Threshold) -> Iterator[str]:
    if threshold.best is not None:
        x = _place(threshold.best)
        yield _line(x, TOP, x, BOTTOM, BEST, 3)
    x = _place(threshold.current)
    yield _line(x, TOP, x, BOTTOM, CURRENT, 3)
    yield _text(x, TOP - 8, f"threshold {threshold.current:.2f}", "middle")


def _place(score: float) -> float:
    return LEFT + (RIGHT - LEFT) * min(1.0, max(0.0, score))


def _legend(threshold: Threshold) -> Iterator[str]:
    for column, (colour, label) in enumerate(
        ((HITS, "relevant memories"), (STRANGERS, "best for an off-topic prompt"))
    ):
        x = LEFT + column * LEGEND_COLUMN
        yield _rectangle(x, 20, 16, 16, colour)
        yield _text(x + 24, 34, label, "start")
    best = "none is advised" if threshold.best is None else f"best {threshold.best:.2f} (grey)"
    yield _text(RIGHT, 34, best, "end")


def _rectangle(x: float, y: float, width: float, height: float, colour: str, tip: str = "") -> str:
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{colour}"'
    return f"<rect {place}><title>{tip}</title></rect>" if tip else f"<rect {place}/>"


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: int) -> str:
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{colour}" stroke-width="{width}"/>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    """Words of ours, without a character that XML would read."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{words}</text>'
