"""Text in one spelling, whatever width, form or order its characters were written in. Pure."""

from __future__ import annotations

import re
import unicodedata

MARKS_PER_LETTER = 30
"""More marks in a row than any language writes; putting them in order takes time by the square of their number."""

_MANY_MARKS = re.compile(rf"[^\w\s\x00-\x7f]{{{MARKS_PER_LETTER + 1},}}")  # or other signs


def folded(text: str) -> str:
    """The text in Unicode's form NFKC, in time that grows with it: of a longer row of marks the first 30 stay."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _MANY_MARKS.sub(_with_fewer_marks, text))


def _with_fewer_marks(signs: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for sign in signs[0]:
        marks = marks + 1 if unicodedata.combining(sign) else 0
        if marks <= MARKS_PER_LETTER:
            kept.append(sign)
    return "".join(kept)
