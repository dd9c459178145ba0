"""Two notes beside each other, line by line. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST_LINES = 1_500
"""Of each part; the rest of longer ones is not compared."""
CONTEXT = 3
"""Equal lines shown on each side of a difference."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One line of the comparison.

    `sign`: space equal, ~ differs, - only left, + only right, § heading, … equal lines left out.
    """

    sign: str
    left: str
    right: str


def compare(left: str, right: str) -> list[Pair]:
    """The frontmatter and the body of two notes, compared one after the other."""
    pairs: list[Pair] = []
    for name, ours, theirs in zip(("frontmatter", "body"), _parts(left), _parts(right), strict=True):
        lines = list(_pairs(ours, theirs))
        differing = sum(pair.sign in "~-+" for pair in lines)
        told = (
            f"{differing} {'line differs' if differing == 1 else 'lines differ'}" if differing else "the same"
        )
        pairs.append(Pair("§", f"{name}: {told}", ""))
        pairs.extend(lines if differing else ())
    return pairs


def _parts(text: str) -> tuple[list[str], list[str]]:
    """The lines of the metadata block without its fences, and those after it."""
    lines = text.removeprefix("\ufeff").splitlines()
    if lines and lines[0].strip() == "---":
        for at in range(1, len(lines)):
            if lines[at].strip() in ("---", "..."):
                return lines[1:at][:MOST_LINES], lines[at + 1 :][:MOST_LINES]
    return [], lines[:MOST_LINES]


def _pairs(left: Sequence[str], right: Sequence[str]) -> Iterator[Pair]:
    blocks = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    for at, (tag, i1, i2, j1, j2) in enumerate(blocks):
        if tag == "equal":
            yield from _equal(left[i1:i2], is_first=at == 0, is_last=at == len(blocks) - 1)
            continue
        ours, theirs = left[i1:i2], right[j1:j2]
        for row in range(max(len(ours), len(theirs))):
            one = ours[row] if row < len(ours) else None
            other = theirs[row] if row < len(theirs) else None
            sign = "~" if one is not None and other is not None else "-" if other is None else "+"
            yield Pair(sign, one or "", other or "")


def _equal(lines: Sequence[str], *, is_first: bool, is_last: bool) -> Iterator[Pair]:
    before = 0 if is_first else CONTEXT
    after = 0 if is_last else CONTEXT
    if len(lines) <= before + after + 1:
        yield from (Pair(" ", line, line) for line in lines)
        return
    yield from (Pair(" ", line, line) for line in lines[:before])
    hidden = len(lines) - before - after
    yield Pair("…", f"{hidden} equal lines", "")
    yield from (Pair(" ", line, line) for line in lines[len(lines) - after :])
