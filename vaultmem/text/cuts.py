"""Where a long text may be cut: at sentence ends, line ends, spaces; never inside a link or a letter.

Lengths are counted twice, in characters and in estimated tokens, because a model's window is one and a
reader's eye the other. Everything here is pure and linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vaultmem.text.folding import folded

# Measured with the tokenizer of multilingual-e5, whose window leaves 507 tokens for a text: common
# Chinese takes 0.67 tokens a character, English 0.25, base64 0.78; rare Han, emoji, punctuation and
# random ASCII up to 1.0.
TOKENS_PER_WORD_LETTER = 0.7
PIECE_TOKENS = 430  # a piece of a block that was cut
HARD_TOKENS = 480  # anything that leaves the chunker: a piece with its heading, fence or table header

_BLANKS = re.compile(r"\s+")
_WORD = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z]?[a-z]{3,24}|[A-Z]{4,24})(?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a piece should be (`target_chars`), may be (`piece_chars`) and never is (`hard_chars`)."""

    target_chars: int
    piece_chars: int
    hard_chars: int
    piece_tokens: float = PIECE_TOKENS
    hard_tokens: float = HARD_TOKENS

    @classmethod
    def around(cls, target_chars: int) -> Limits:
        """The limits for a target: half as much again for a piece, never more than twice as much."""
        return cls(target_chars, target_chars * 3 // 2, target_chars * 2)

    def less(self, overhead: str) -> Limits:
        """The limits for what goes beside `overhead` (a repeated header, fence lines) in one piece."""
        chars, tokens = len(overhead), estimate_tokens(overhead)
        least = self.target_chars // 4
        return Limits(
            max(self.target_chars - chars, least),
            max(self.piece_chars - chars, least),
            max(self.hard_chars - chars, least),
            max(self.piece_tokens - tokens, least),
            max(self.hard_tokens - tokens, least),
        )

    def is_piece(self, text: str) -> bool:
        """Whether a text may stay whole."""
        return len(text) <= self.piece_chars and estimate_tokens(text) <= self.piece_tokens

    def is_allowed(self, text: str) -> bool:
        """Whether a text is within the hard limits."""
        return len(text) <= self.hard_chars and estimate_tokens(text) <= self.hard_tokens


def estimate_tokens(text: str) -> float:
    """Estimate from above the tokens of a text: 0.7 for a letter of a plain word, 1 for all else but space.

    Tokenizers of the XLM-R family compose and fold first (NFKC), which makes some single characters many.
    """
    if not text.isascii():
        text = folded(text)
    others = len(_BLANKS.sub("", _WORD.sub("", text)))
    return others + (len(_BLANKS.sub("", text)) - others) * TOKENS_PER_WORD_LETTER


@dataclass(frozen=True, slots=True)
class Places:
    """Where a text may be cut, each kind better than the next; a cut is made at the end of a match.

    With places `between` lines, a line is cut `inside` only when it alone is too long.
    """

    between: tuple[re.Pattern[str], ...]
    inside: tuple[re.Pattern[str], ...]


_SENTENCE = re.compile(r"""[。！？；!?…]+[”’"'」』）)\]】》*_~]*\s*|\.[”"')\]*_~]*\s+""")
_LINE = re.compile(r"\n")
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")
_CELL = re.compile(r"\|")
_CLAUSE = re.compile(r"[，、：]|[,;:]\s+")
_SPACE = re.compile(r"\s+")
PROSE = Places((), (_SENTENCE, _LINE, _CLAUSE, _SPACE))
CODE = Places((_EMPTY_LINE, _LINE), (_SPACE,))
ROWS = Places((_LINE,), (_CELL, _SENTENCE, _CLAUSE, _SPACE))

_LINK = re.compile(r"!?\[[^\[\]\n]{0,200}\]\([^()\s]{0,400}\)")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,15}://[!#-;=?-_a-z{|}~]+")
_BRACKETS = re.compile(r"!?\[\[|\]\]|\n")
_TICKS = re.compile(r"`+")


def cut(text: str, limits: Limits, places: Places = PROSE) -> list[tuple[int, int]]:
    """The spans (start, end) of consecutive pieces that together are the text.

    A piece ends at the best place near `target_chars`; the last two share what is left evenly. Where
    there is no place at all (a link, a word or a code line longer than the limits) the cut is at the
    border of a letter.
    """
    spans: list[tuple[int, int]] = []
    kept = protected_spans(text, limits.target_chars)
    start = 0
    while len(text) - start > limits.piece_chars or not limits.is_piece(text[start:]):
        end = _cut_end(text, start, limits, places, kept)
        spans.append((start, end))
        start = end
    if start < len(text) or not spans:
        spans.append((start, len(text)))
    return spans


def protected_spans(text: str, longest: int) -> list[tuple[int, int]]:
    """The spans that must stay whole, in order and apart: wikilinks, links, URLs, code in a line.

    Spans longer than `longest` are left out.
    """
    found = [*_wikilinks(text), *_code_spans(text)]
    found += [match.span() for pattern in (_LINK, _URL) for match in pattern.finditer(text)]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(span for span in found if span[1] - span[0] <= longest):
        if merged and start < merged[-1][1]:
            if end - merged[-1][0] <= longest:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _wikilinks(text: str) -> Iterator[tuple[int, int]]:
    opened = -1
    for match in _BRACKETS.finditer(text):
        if match[0].endswith("[["):
            opened = match.start()
        elif match[0] == "]]" and opened >= 0:
            yield opened, match.end()
            opened = -1
        else:
            opened = -1


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    runs = [match.span() for match in _TICKS.finditer(text)]
    following: list[int] = [-1] * len(runs)  # the next run of the same length
    last: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        following[index] = last.get(length, -1)
        last[length] = index
    index = 0
    while index < len(runs):
        closing = following[index]
        if closing >= 0:
            yield runs[index][0], runs[closing][1]
        index = closing + 1 if closing >= 0 else index + 1


def _cut_end(text: str, start: int, limits: Limits, places: Places, kept: Sequence[tuple[int, int]]) -> int:
    latest = _latest_end(text, start, limits)
    rest = len(text) - start
    goal = min(start + (limits.target_chars if rest >= 2 * limits.target_chars else rest // 2), latest)
    near = (min(start + limits.target_chars // 2, goal), latest)
    tries = [(place, near) for place in places.between]
    if places.between:  # a short piece is better than a broken line
        tries.append((_LINE, (start + 1, latest)))
    tries += [(place, near) for place in places.inside]
    for place, window in tries:
        best = _nearest(text, place, window, goal, kept)
        if best is not None and best > start:
            return best
    return _hard_end(text, start, goal, latest, kept)


def _latest_end(text: str, start: int, limits: Limits) -> int:
    end = min(start + limits.piece_chars, len(text))
    while estimate_tokens(text[start:end]) > limits.piece_tokens and end - start > 1:
        share = limits.piece_tokens / estimate_tokens(text[start:end])
        end = start + max(1, min(int((end - start) * share), end - start - 1))
    return end


def _nearest(
    text: str,
    place: re.Pattern[str],
    window: tuple[int, int],
    goal: int,
    kept: Sequence[tuple[int, int]],
) -> int | None:
    """The allowed cut in the window that is nearest to the goal, the earlier of two."""
    best = None
    for match in place.finditer(text, max(window[0] - 1, 0), min(window[1] + 1, len(text))):
        end = match.end()
        if not window[0] <= end <= window[1] or end >= len(text) or not _is_free(text, end, kept):
            continue
        if best is None or abs(end - goal) < abs(best - goal):
            best = end
    return best


def _hard_end(text: str, start: int, goal: int, latest: int, kept: Sequence[tuple[int, int]]) -> int:
    inside = _span_around(goal, kept)
    if inside is not None:
        goal = inside[0] if inside[0] > start else min(inside[1], latest)
    for end in range(goal, max(start, goal - 64), -1):
        if _is_free(text, end, kept):
            return end
    return goal  # a "letter" of 64 and more code points


def _span_around(position: int, kept: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    index = bisect_left(kept, (position,)) - 1
    return kept[index] if index >= 0 and position < kept[index][1] else None


def _is_free(text: str, position: int, kept: Sequence[tuple[int, int]]) -> bool:
    return _span_around(position, kept) is None and is_letter_border(text, position)


def is_letter_border(text: str, position: int) -> bool:
    """Whether a cut before `position` leaves what a reader sees as one letter whole.

    Covers combining marks, joined and modified emoji, flags and conjoining Hangul; not the rarer rules
    of UAX #29.
    """
    if not 0 < position < len(text):
        return True
    before, after = text[position - 1], text[position]
    if after.isascii() and before.isascii():
        return True
    if unicodedata.category(after).startswith("M") or after in "\u200d\ufe0e\ufe0f" or before == "\u200d":
        return False
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return False
    if _is_regional(before) and _is_regional(after):
        return _regional_run(text, position) % 2 == 0
    return not ("\u1160" <= after <= "\u11ff" and ("\u1100" <= before <= "\u11ff" or "가" <= before <= "힣"))


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _regional_run(text: str, end: int) -> int:
    start = end
    while start > max(0, end - 1024) and _is_regional(text[start - 1]):
        start -= 1
    return end - start


class LineIndex:
    """The line (from 0) of a place in a text; only `\\n` ends a line."""

    def __init__(self, text: str) -> None:
        self._breaks = [match.start() for match in _LINE.finditer(text)]

    def line_of(self, position: int) -> int:
        """How many lines end before `position`."""
        return bisect_right(self._breaks, position - 1)
