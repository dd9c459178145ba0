"""Lines found by a text search become matches: joined with the lines around them, and cut to be read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from vaultmem.text.cuts import is_letter_border

TEXT_CHARS = 300  # of a matching line, around the match
CONTEXT_CHARS = 160


@dataclass(frozen=True, slots=True)
class Match:
    """One matching line. `path` is relative to the root with `/`; `line` counts from 1, and only `\\n` ends a line.

    `text` is the line without its end, at most `TEXT_CHARS` around the match, with `…` where it was cut.
    `before` and `after` are the lines around it, each cut to `CONTEXT_CHARS`.
    """

    path: str
    line: int
    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matches:
    """The matches, newest dated path first; what could not be searched; and what answered, `rg` or `python`."""

    matches: tuple[Match, ...]
    warnings: tuple[str, ...]
    engine: str


@dataclass(frozen=True, slots=True)
class FoundLine:
    """A line of a note that matches, or that lies near one that does.

    `text` is only the line's beginning when `is_cut`; `offset` is the byte of the file where the line
    begins.
    """

    path: str
    number: int
    is_match: bool
    text: str
    offset: int = 0
    is_cut: bool = False


@dataclass(slots=True)
class Hit:
    """A matching line with its neighbours, still uncut."""

    line: FoundLine
    before: tuple[str, ...]
    after: list[str] = field(default_factory=list)

    def match(self, text: str) -> Match:
        """Return the match that shows `text` for the line."""
        return Match(self.line.path, self.line.number, text, self.before, tuple(self.after))


def collect(
    lines: Iterable[FoundLine], *, limit: int, context: int, keep: Callable[[str], bool]
) -> Iterator[Hit]:
    """Yield the first `limit` hits in the paths that `keep` lets through, each when its neighbours are complete.

    `lines` come path by path in rising order. No more of them are taken than the hits need.
    """
    recent: deque[FoundLine] = deque(maxlen=context or None)
    open_hits: deque[Hit] = deque()
    path, is_kept, count = None, False, 0
    for line in lines:
        if line.path != path:
            yield from open_hits
            open_hits.clear()
            recent.clear()
            path, is_kept = line.path, keep(line.path)
        while open_hits and line.number > open_hits[0].line.number + context:
            yield open_hits.popleft()
        if count == limit and not open_hits:
            return
        if not is_kept:
            continue
        for hit in open_hits:
            hit.after.append(excerpt(line.text, None, CONTEXT_CHARS))
        if line.is_match and count < limit:
            near = [old for old in recent if old.number >= line.number - context] if context else []
            open_hits.append(Hit(line, tuple(excerpt(old.text, None, CONTEXT_CHARS) for old in near)))
            count += 1
        if context:
            recent.append(line)
    yield from open_hits


def excerpt(text: str, span: tuple[int, int] | None, width: int = TEXT_CHARS) -> str:
    """Return at most `width` characters of a line: from its beginning, or around `span`; `…` marks what is cut off."""
    text = text.rstrip("\r\n")
    if len(text) <= width:
        return text
    start, end = span or (0, 0)
    shown = min(end - start, width * 2 // 3)
    begin = max(0, min(start - (width - shown) // 2, len(text) - width))
    stop = min(begin + width, len(text))
    if begin > 0:
        begin = _border(text, begin + 1, 1)
    if stop < len(text):
        stop = _border(text, stop - 1, -1)
    return ("…" if begin > 0 else "") + text[begin:stop] + ("…" if stop < len(text) else "")


def _border(text: str, position: int, step: int) -> int:
    for _ in range(16):
        if is_letter_border(text, position):
            break
        position += step
    return position
