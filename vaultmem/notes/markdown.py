"""A body → its Markdown blocks, as a CommonMark parser finds them. Together they cover every line.

What the parser says nothing of (a link definition, a gap between two items) belongs to the block before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

SLICE_CHARS = 32_768  # what is parsed at a time: a MiB of list items would be a million tokens at once
PARSED_LINES = 50_000  # parsing takes up to 50 µs a line; a note with more is a log, and cut by lines

LISTS = frozenset({"bullet_list_open", "ordered_list_open"})
_CONTAINERS = LISTS | {"blockquote_open", "list_item_open"}
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_HEADING = re.compile(r"#{1,6}(?:\s|$)")


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A block of the body: lines `start` to `end` (from 0, end excluded) and the blocks inside.

    `first` is the parser's own first line; `start` may lie above it, so that siblings leave no gap.
    """

    kind: str
    start: int
    end: int
    first: int
    token: Token
    title: str
    children: tuple[MarkdownBlock, ...]

    @property
    def heading_level(self) -> int | None:
        """1 to 6, or None for what is no heading."""
        return int(self.token.tag[1]) if self.kind == "heading_open" else None


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Blocks are all that is asked for. A link definition would leave no token, and Obsidian's footnotes
    # look like one.
    return MarkdownIt("commonmark").enable("table").disable(["reference", "inline"])


def markdown_blocks(lines: Sequence[str]) -> Iterator[MarkdownBlock]:
    """The outermost blocks of these lines, in order."""
    for start, end in _slices(lines[:PARSED_LINES]):
        tokens = _parser().parse("\n".join(lines[start:end]))
        yield from _tree(tokens, start, end, start)
    if len(lines) > PARSED_LINES:
        yield _unparsed(PARSED_LINES, len(lines))


def _unparsed(start: int, end: int) -> MarkdownBlock:
    from markdown_it.token import Token

    return MarkdownBlock("code_block", start, end, start, Token("code_block", "", 0), "", ())


def _slices(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Line ranges that can be parsed one by one: each begins at a heading, an item or after a gap."""
    start, size, fence = 0, 0, ""
    for number, line in enumerate(lines):
        if size >= SLICE_CHARS and not fence and _can_begin(lines[number - 1], line):
            yield start, number
            start, size = number, 0
        size += len(line) + 1
        if match := _FENCE.match(line):
            if not fence:
                fence = match[1]
            elif match[1].startswith(fence) and not match[2].strip():
                fence = ""
    yield start, len(lines)


def _can_begin(before: str, line: str) -> bool:
    if not line or line[0] in " \t>":
        return False
    if not before.strip() or _HEADING.match(line):
        return True
    return bool(_ITEM.match(line)) and bool(_ITEM.match(before.lstrip()))


def _tree(tokens: Iterable[Token], start: int, end: int, offset: int) -> list[MarkdownBlock]:
    """The blocks at one level. They cover `start` to `end`: a gap goes to the block before it."""
    found = [(token, inner) for token, inner in _nested(tokens) if token.map is not None]
    firsts = [token.map[0] + offset for token, _ in found if token.map is not None]
    blocks: list[MarkdownBlock] = []
    begin = start
    for index, (token, inner) in enumerate(found):
        stop = max(firsts[index + 1], begin) if index + 1 < len(found) else end
        if stop <= begin:
            continue
        children = _tree(inner, begin, stop, offset) if token.type in _CONTAINERS else []
        title = inner[0].content if token.type == "heading_open" and inner else ""
        blocks.append(MarkdownBlock(token.type, begin, stop, firsts[index], token, title, tuple(children)))
        begin = stop
    return blocks


def _nested(tokens: Iterable[Token]) -> Iterator[tuple[Token, list[Token]]]:
    """Each token of the outermost level with the tokens inside it."""
    outer: Token | None = None
    inner: list[Token] = []
    depth = 0
    for token in tokens:
        depth += token.nesting
        if outer is None:
            outer, inner = token, []
        elif depth:
            inner.append(token)
        if depth == 0:
            yield outer, inner
            outer = None
