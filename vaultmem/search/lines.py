"""Lines: the one that is looked for, those that were found, and what a reader is shown of them. Pure.

What is looked for is one line of text or a regular expression, in composed and decomposed letters. A line found
becomes a match: joined with the lines around it, and cut to be read.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vaultmem.errors import UsageError
from vaultmem.notes.names import is_note_name
from vaultmem.text.cuts import is_letter_border
from vaultmem.text.shown import is_text

PATTERN_CHARS = 30_000  # an argument of a program holds 128 KiB
TEXT_CHARS = 300  # of a matching line, around the match
CONTEXT_CHARS = 160
WARNINGS_SHOWN = 5
TOO_LONG = "the search took too long and was stopped: some notes were not searched"

_BLANK_FORM = "give a word, a phrase or a regular expression"
_REGEX_PARTS = re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|[^\x00-\x7f]", re.DOTALL)

# --- what is looked for


@dataclass(frozen=True, slots=True)
class Pattern:
    """A query of text search. Make it with `Pattern.of`."""

    text: str
    is_fixed: bool

    @classmethod
    def of(cls, text: str, *, is_fixed: bool = False) -> Pattern:
        """The pattern for a query. Raises UsageError for one that is blank, long, no text or several lines."""
        if not isinstance(text, str) or not text.strip():
            raise UsageError("the search pattern is empty", advice=_BLANK_FORM)
        if "\n" in text or "\r" in text:
            raise UsageError(
                "the search pattern has several lines", advice="search goes by line: give one line of it"
            )
        if "\0" in text:
            raise UsageError("the search pattern holds a NUL character", advice=_BLANK_FORM)
        if not is_text(text):
            raise UsageError(
                "the search pattern is not UTF-8 text", advice="notes are UTF-8: give the pattern in it"
            )
        if len(text) > PATTERN_CHARS:
            raise UsageError(
                f"the search pattern has {len(text)} characters",
                advice=f"give a part of it, at most {PATTERN_CHARS}",
            )
        return cls(text, is_fixed)

    def forms(self) -> tuple[str, ...]:
        """The alternatives that are searched for, so that "é" is found as one code point or two."""
        composed = unicodedata.normalize("NFC", self.text)
        if not self.is_fixed:
            return tuple(dict.fromkeys((_in_either_form(composed), self.text)))
        return tuple(dict.fromkeys((composed, unicodedata.normalize("NFD", self.text), self.text)))

    def compiled(self) -> tuple[re.Pattern[str], ...]:
        """The alternatives for Python's `re`. Raises UsageError, in its words, for what it cannot read."""
        try:
            return tuple(re.compile(re.escape(form) if self.is_fixed else form) for form in self.forms())
        except (re.error, RecursionError, OverflowError) as error:
            raise bad_expression(str(error), "Python") from error


def bad_expression(words: str, program: str) -> UsageError:
    """The error for a text that `program` cannot read as a regular expression, in its own words."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    reasons = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    return UsageError(
        f"{program} cannot read this regular expression: {(reasons or lines or [words])[-1 if reasons else 0]}",
        advice="correct it, or use --fixed to search for the text as it is",
    )


def _in_either_form(pattern: str) -> str:
    """The expression, with each composed letter matching its decomposed form too; classes stay as they are."""

    def either(match: re.Match[str]) -> str:
        part = match[0]
        decomposed = unicodedata.normalize("NFD", part) if len(part) == 1 else part
        return part if decomposed == part else f"(?:{part}|{decomposed})"

    return _REGEX_PARTS.sub(either, pattern)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One text search: the first `limit` lines with the pattern in the notes under `root` that `keep` lets through."""

    root: Path
    pattern: Pattern
    limit: int
    context: int
    """Lines shown before and after each match."""
    keep: Callable[[str], bool]
    deadline: float
    """A time of `time.monotonic`, after which no more is searched."""
    size_limit: int
    """Bytes of a file; what is larger is left out."""

    def is_wanted(self, path: str) -> bool:
        """The file is a note, by its name, and one that `keep` lets through."""
        # rg's type filter brings hidden files back, and knows nothing of temporary names.
        return is_note_name(path.rpartition("/")[2]) and self.keep(path)


# --- what was found


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
    begins, and `raw` what was printed of it.
    """

    path: str
    number: int
    is_match: bool
    text: str
    offset: int = 0
    is_cut: bool = False
    raw: bytes = b""


@dataclass(slots=True)
class Hit:
    """A matching line with its neighbours, still uncut."""

    line: FoundLine
    before: tuple[str, ...]
    after: list[str] = field(default_factory=list)

    def match(self, text: str) -> Match:
        """The match that shows `text` for the line."""
        return Match(self.line.path, self.line.number, text, self.before, tuple(self.after))


def collect(lines: Iterable[FoundLine], wanted: Wanted) -> Iterator[Hit]:
    """The first hits in wanted files, each when its neighbours are complete.

    `lines` come path by path in rising order. No more of them are taken than the hits need.
    """
    limit, context = wanted.limit, wanted.context
    recent: deque[FoundLine] = deque(maxlen=context or None)
    open_hits: deque[Hit] = deque()
    path, is_kept, count = None, False, 0
    for line in lines:
        if line.path != path:
            yield from open_hits
            open_hits.clear()
            recent.clear()
            path, is_kept = line.path, wanted.is_wanted(line.path)
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


def few(warnings: Sequence[str]) -> tuple[str, ...]:
    """The first warnings, and how many more there were."""
    rest = len(warnings) - WARNINGS_SHOWN
    return (*warnings[:WARNINGS_SHOWN], f"and {rest} more") if rest > 0 else tuple(warnings)


def excerpt(text: str, span: tuple[int, int] | None, width: int = TEXT_CHARS) -> str:
    """At most `width` characters of a line: from its beginning, or around `span`; `…` marks what is cut off."""
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
