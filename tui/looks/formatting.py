"""Values → short texts and bars for the screen. Pure: no widgets, no clock, no files.

Everything that came out of a note is shown through `harmless` or `Content(text)`: it is never read as markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from textual.content import Content

from vaultmem.text.moments import local
from vaultmem.text.shown import harmless

EIGHTHS = " ▏▎▍▌▋▊▉"
MARK = "│"
TRACK = "$foreground 15%"
MUTED = "$foreground 60%"
"""For what is said beside the thing itself."""


def ago(age_s: float | None) -> str:
    """How long ago something was: `just now`, `3 s ago`, `2 min ago`, `5 h ago`, `3 d ago`; `never` for None."""
    if age_s is None:
        return "never"
    if age_s < 1:
        return "just now"
    return f"{_span(age_s)} ago"


def left(seconds: float | None) -> str:
    """Time left: `about 12 s left`; empty while it cannot be estimated."""
    return "" if seconds is None else f"about {_span(max(1.0, seconds))} left"


def _span(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.0f} h"
    return f"{seconds / 86400:.0f} d"


def day(stamp: str | None) -> str:
    """The date of a note's time as it is written, at most ten characters; a dash when there is none."""
    return harmless(stamp or "")[:10] or "—"


def clock_time(at: datetime) -> str:
    """The local time of day: `14:05:09`."""
    return local(at).strftime("%H:%M:%S")


def moment(at: datetime) -> str:
    """Local date and time to the minute: `2026-05-14 10:30`."""
    return local(at).strftime("%Y-%m-%d %H:%M")


def cells(share: float, width: int) -> str:
    """A bar of `width` cells filled to `share` (0..1), an eighth of a cell fine; not empty when share > 0."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if share > 0:
        eighths = max(1, eighths)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (EIGHTHS[rest] if rest else "")).ljust(width)


def bar(share: float, width: int, style: str) -> Content:
    """A filled bar on a quiet track."""
    filled = cells(share, width).rstrip()
    return Content.assemble((filled, style), ("╌" * (width - len(filled)), TRACK))


def score_bar(score: float, threshold: float, width: int, style: str) -> Content:
    """A score's bar (0..1) with the threshold drawn into it as `│`; the two ends of the scale are the bar's."""
    text = cells(score, width)
    at = min(width - 1, max(0, int(threshold * width)))
    reached = text[at] == "█"
    before, after = text[:at], text[at + 1 :]
    mark_style = f"{style} reverse" if reached else "$foreground bold"
    return Content.assemble(_run(before, style), (MARK, mark_style), _run(after, style))


def _run(text: str, style: str) -> Content:
    filled = text.rstrip(" ")
    return Content.assemble((filled, style), ("·" * (len(text) - len(filled)), TRACK))


def with_tail(name: Content, tail: str, short: str, width: int) -> Content:
    """A name and what tells it from others like it, cut so that of both something is seen."""
    room = max(width // 2, width - name.cell_length - 2)
    told = Content(tail) if Content(tail).cell_length <= room else Content(short)
    told = told.truncate(room, ellipsis=True)
    kept = name.truncate(max(1, width - told.cell_length - 2), ellipsis=True)
    return Content.assemble(kept, "  ", told.stylize(MUTED))


def progress(done: int, total: int, width: int) -> Content:
    """A thin progress line; nothing when there is nothing to do."""
    if total <= 0 or width <= 0:
        return Content("")
    filled = min(width, done * width // total)
    return Content.assemble(("━" * filled, "$accent"), ("─" * (width - filled), TRACK))


def highlighted(text: str, words: Sequence[str], style: str = "underline bold $accent") -> Content:
    """The text with every occurrence of `words` marked, whatever their case."""
    content = Content(text)
    fold = str.casefold if len(text.casefold()) == len(text) else str.lower  # `ß` folds into two letters
    folded = fold(text)
    if len(folded) != len(text):  # folding moved the offsets: better unmarked than marked wrongly
        return content
    for wanted in map(fold, words):
        start = folded.find(wanted) if wanted else -1
        while start >= 0:
            content = content.stylize(style, start, start + len(wanted))
            start = folded.find(wanted, start + len(wanted))
    return content


def lines(parts: Sequence[Content | str]) -> Content:
    """Several lines as one content."""
    return Content("\n").join([part if isinstance(part, Content) else Content(part) for part in parts])


def diff_lines(diff: str) -> Content:
    """A unified diff, coloured; the signs at the line starts say the same without colour."""
    return lines([Content.styled(line.expandtabs(4), _diff_style(line)) for line in diff.splitlines()])


def _diff_style(line: str) -> str:
    if line.startswith(("+++", "---")):
        return MUTED
    if line.startswith("@@"):
        return "$text-accent"
    if line.startswith("+"):
        return "$text-success"
    if line.startswith("-"):
        return "$text-error"
    return ""
