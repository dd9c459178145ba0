"""A plot of a number per week: bars an eighth of a line fine, months below, the highest number at the side."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from textual.content import Content
from textual.widget import Widget

from tui.looks.formatting import MUTED, lines
from vaultmem.text.amounts import count

STEPS = " ▁▂▃▄▅▆▇█"
AXIS = "$foreground 30%"


class WeekPlot(Widget):
    """Shows as many of the last weeks as fit."""

    weeks: Sequence[tuple[date, int]] = ()

    def show(self, weeks: Sequence[tuple[date, int]]) -> None:
        """Plot these weeks (their Mondays), oldest first."""
        self.weeks = weeks
        self.refresh()

    def render(self) -> Content:
        """The plot at the size of the widget."""
        return drawn(self.weeks, self.size.width, self.size.height)


def drawn(weeks: Sequence[tuple[date, int]], width: int, height: int) -> Content:
    """The plot as text: `height` lines, the last one with the months."""
    most = max((number for _, number in weeks), default=0)
    if not most:
        return Content.styled("no memories in these weeks", MUTED)
    side = len(count(most)) + 1
    step = _step(width - side, len(weeks))
    shown = weeks[-max(1, (width - side) // step) :]
    rows = max(1, height - 2)
    body = [_row(shown, most, rows, row, side, step) for row in range(rows)]
    return lines([*body, _floor(side, len(shown) * step), _months(shown, side, step)])


def _step(room: int, weeks: int) -> int:
    """Cells per week, the gap beside the bar included."""
    roomy = 2 if room >= 40 else 1
    return max(roomy, min(4, room // max(1, weeks)))


def _row(weeks: Sequence[tuple[date, int]], most: int, rows: int, row: int, side: int, step: int) -> Content:
    bars = "".join(
        STEPS[_eighths(number, most, rows, row)] * max(1, step - 1) + " " * (step > 1) for _, number in weeks
    )
    label = count(most) if row == 0 else ""
    return Content.assemble((f"{label:>{side - 1}} ", AXIS), (bars, "$primary"))


def _eighths(number: int, most: int, rows: int, row: int) -> int:
    """How much of the cell in this row the bar fills; a number above 0 is always seen."""
    filled = round(number / most * rows * 8)
    if number and not filled:
        filled = 1
    return max(0, min(8, filled - (rows - 1 - row) * 8))


def _floor(side: int, width: int) -> Content:
    return Content.styled(f"{'0':>{side - 1}} " + "─" * width, AXIS)


def _months(weeks: Sequence[tuple[date, int]], side: int, step: int) -> Content:
    text = ""
    for index, (monday, _) in enumerate(weeks):
        starts_month = monday.day <= 7
        at = index * step
        if starts_month and len(text) <= at:
            text = text.ljust(at) + (f"{monday:%b %Y} " if monday.month == 1 else f"{monday:%b} ")
    return Content.styled(" " * side + text[: len(weeks) * step], MUTED)
