"""Two notes beside each other, line by line. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST_COMPARED_LINES = 1_500
"""Of each part; the rest of longer ones is not compared."""
CONTEXT = 3
"""Equal lines shown on each side of a difference."""


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """One line of the comparison.

    `sign`: space equal, ~ differs, - only left, + only right, § heading, … equal lines left out.
    """

    sign: str
    left: str
    right: str


def side_by_side(left: str, right: str) -> list[ComparedLine]:
    """The frontmatter and the body of two notes, compared one after the other."""
    compared: list[ComparedLine] = []
    for name, ours, theirs in zip(("frontmatter", "body"), _parts(left), _parts(right), strict=True):
        lines = list(_compared(ours, theirs))
        differing = sum(line.sign in "~-+" for line in lines)
        told = (
            f"{differing} {'line differs' if differing == 1 else 'lines differ'}" if differing else "the same"
        )
        compared.append(ComparedLine("§", f"{name}: {told}", ""))
        compared.extend(lines if differing else ())
    return compared


def _parts(text: str) -> tuple[list[str], list[str]]:
    """The lines of the metadata block without its fences, and those after it."""
    lines = text.removeprefix("\ufeff").splitlines()
    if lines and lines[0].strip() == "---":
        for at in range(1, len(lines)):
            if lines[at].strip() in ("---", "..."):
                return lines[1:at][:MOST_COMPARED_LINES], lines[at + 1 :][:MOST_COMPARED_LINES]
    return [], lines[:MOST_COMPARED_LINES]


def _compared(left: Sequence[str], right: Sequence[str]) -> Iterator[ComparedLine]:
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
            yield ComparedLine(sign, one or "", other or "")


def _equal(lines: Sequence[str], *, is_first: bool, is_last: bool) -> Iterator[ComparedLine]:
    before = 0 if is_first else CONTEXT
    after = 0 if is_last else CONTEXT
    if len(lines) <= before + after + 1:
        yield from (ComparedLine(" ", line, line) for line in lines)
        return
    yield from (ComparedLine(" ", line, line) for line in lines[:before])
    hidden = len(lines) - before - after
    yield ComparedLine("…", f"{hidden} equal lines", "")
    yield from (ComparedLine(" ", line, line) for line in lines[len(lines) - after :])
