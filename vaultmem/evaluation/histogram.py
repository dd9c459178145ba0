"""The score histogram of an evaluation as a PNG. The only module that imports Pillow."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmem.errors import UsageError
from vaultmem.evaluation.evaluation import Evaluation
from vaultmem.evaluation.report import BINS, score_bins

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

WIDTH, HEIGHT = 960, 540
LEFT, TOP, RIGHT, BOTTOM = 70, 60, WIDTH - 30, HEIGHT - 60
FONT_SIZE = 16
STEPS = 4  # of the vertical axis
PAPER, INK, GRID = "#ffffff", "#222222", "#dddddd"
HITS, STRANGERS, CURRENT, BEST = "#2a7f62", "#c8553d", "#222222", "#8a8a8a"


def save_histogram(evaluation: Evaluation, path: Path) -> None:
    """Write the histogram: relevant memories and strangers side by side, with the thresholds as lines.

    Raises UsageError when the file cannot be written or its ending names no image format.
    """
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    draw = ImageDraw.Draw(image)
    draw.font = ImageFont.load_default(FONT_SIZE)
    _draw(draw, evaluation)
    try:
        image.save(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {path}: {error}", advice="Name a PNG file.") from error


def _draw(draw: ImageDraw, evaluation: Evaluation) -> None:
    hits, strangers = score_bins(evaluation)
    most = STEPS * math.ceil(max(*hits, *strangers, 1) / STEPS)
    _draw_axes(draw, most)
    bin_width = (RIGHT - LEFT) / BINS
    for counts, colour, offset in ((hits, HITS, 0.08), (strangers, STRANGERS, 0.52)):
        for number, count in enumerate(counts):
            left = LEFT + (number + offset) * bin_width
            top = BOTTOM - (BOTTOM - TOP) * count / most
            if count:
                draw.rectangle((left, top, left + 0.4 * bin_width, BOTTOM), fill=colour)
    threshold = evaluation.threshold
    if threshold.best is not None:
        _draw_line(draw, threshold.best, BEST, "")
    _draw_line(draw, threshold.current, CURRENT, f"threshold {threshold.current:.2f}")
    best = "none is advised" if threshold.best is None else f"best {threshold.best:.2f} (grey)"
    _draw_legend(draw, best)


def _draw_axes(draw: ImageDraw, most: int) -> None:
    for step in range(STEPS + 1):
        y = BOTTOM - (BOTTOM - TOP) * step / STEPS
        draw.line((LEFT, y, RIGHT, y), fill=GRID)
        draw.text((LEFT - 12, y), f"{most * step // STEPS}", fill=INK, anchor="rm")
    for step in range(11):
        x = LEFT + (RIGHT - LEFT) * step / 10
        draw.text((x, BOTTOM + 8), f"{step / 10:.1f}", fill=INK, anchor="ma")
    draw.text(((LEFT + RIGHT) / 2, BOTTOM + 32), "score", fill=INK, anchor="ma")


def _draw_line(draw: ImageDraw, score: float, colour: str, label: str) -> None:
    x = LEFT + (RIGHT - LEFT) * min(1.0, max(0.0, score))
    draw.line((x, TOP, x, BOTTOM), fill=colour, width=3)
    draw.text((x, TOP - 4), label, fill=colour, anchor="md")


def _draw_legend(draw: ImageDraw, best: str) -> None:
    entries = ((HITS, "relevant memories"), (STRANGERS, "best for an off-topic prompt"))
    x = LEFT
    for colour, label in entries:
        draw.rectangle((x, 20, x + 16, 36), fill=colour)
        draw.text((x + 24, 28), label, fill=INK, anchor="lm")
        x += 60 + int(draw.textlength(label))
    draw.text((RIGHT, 28), best, fill=BEST, anchor="rm")
