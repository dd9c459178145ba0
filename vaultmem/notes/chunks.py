"""The body of a note, cut into the pieces that are embedded, along its Markdown structure.

    body → blocks (a CommonMark parser finds them) → pieces (a block, or a part of a long one) → chunks
    (pieces packed)

A chunk's text is the note's own Markdown and holds body only. Its identity is the hash of that text:
line numbers and headings are where it was found, not what it is, so a line inserted above re-embeds
nothing.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from vaultmem.text.cuts import CODE, PROSE, ROWS, Limits, LineIndex, Places, cut, estimate_tokens

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

CHUNKER = "chunks-2"  # changes when the same body gives other chunks
HEADING_SEPARATOR = " › "
HEADING_CHARS = 80
MIN_TARGET_CHARS = 100
SLICE_CHARS = 32_768  # what is parsed at a time: a MiB of list items would be a million tokens at once
PARSED_LINES = 50_000  # parsing takes up to 50 µs a line; a note with more is a log, and cut by lines
COUNTED_CHARS = 4_096


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a body. `line_start` and `line_end` count from 1 in the file, both included.

    A repeated table header, fence line or parent item is in `text` but not in the line range.
    """

    ordinal: int
    heading: str
    line_start: int
    line_end: int
    text: str
    text_hash: str


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of the body: lines `start` to `end` (from 0, end excluded) and the blocks inside.

    `first` is the parser's own first line; `start` may lie above it, so that siblings leave no gap.
    """

    kind: str
    start: int
    end: int
    first: int
    token: Token
    title: str
    children: tuple[_Block, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text, its lines and its estimated tokens. A sealed piece is a part of a block that was cut."""

    start: int
    end: int
    text: str
    tokens: float
    is_sealed: bool = False

    def joined(self, other: _Piece) -> _Piece:
        """Return this piece with `other` behind it, an empty line between where there was one."""
        gap = "\n\n" if other.start > self.end else "\n"
        is_sealed = self.is_sealed or other.is_sealed
        return _Piece(
            self.start, other.end, self.text + gap + other.text, self.tokens + other.tokens, is_sealed
        )


def split_body(
    body: str, body_line: int = 1, *, target: int = 200, limit_chars: int = 1_048_576
) -> tuple[Chunk, ...]:
    """Return the chunks of a body in order, none for a blank body; CRLF gives the chunks that LF gives.

    Every line that is not blank lies in some chunk's range. No text is longer than twice the target (at
    least twice `MIN_TARGET_CHARS`), nor than the e5 window by a careful estimate. What comes after
    `limit_chars` is left out.
    """
    limits = Limits.around(max(target, MIN_TARGET_CHARS))
    found = [
        (heading, piece)
        for heading, pieces in _sections(_lines(body, limit_chars), limits)
        for piece in _packed(pieces, limits)
    ]
    return tuple(
        Chunk(
            ordinal,
            heading,
            body_line + piece.start,
            body_line + piece.end - 1,
            piece.text,
            text_hash(piece.text),
        )
        for ordinal, (heading, piece) in enumerate(found)
    )


def text_hash(text: str) -> str:
    """Return the identity of an embedded text: blake2b-128 of its UTF-8, in hex."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def metadata_text(name: str, description: str, tags: Iterable[str]) -> str:
    """Return what is embedded as a note's metadata: name, description and tags, each on its own line.

    The tags come last, because a very long text is cut at its end to fit the model's window.
    """
    text = "\n".join(part for part in (name, description, " ".join(tags)) if part)
    limits = Limits.around(400)
    return text if limits.is_allowed(text) else text[slice(*cut(text, limits)[0])].rstrip()


def _lines(body: str, limit_chars: int) -> list[str]:
    # Only \n and \r\n end a line here; the parser would take a lone \r for one too.
    text = body[: 2 * limit_chars].replace("\r\n", "\n").replace("\r", " ")[:limit_chars]
    return [line.rstrip() for line in text.split("\n")]


# --- blocks ----------------------------------------------------------------------------------------------


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Blocks are all that is asked for. A link definition would leave no token, and Obsidian's footnotes
    # look like one.
    return MarkdownIt("commonmark").enable("table").disable(["reference", "inline"])


_CONTAINERS = frozenset({"blockquote_open", "bullet_list_open", "ordered_list_open", "list_item_open"})
_LISTS = frozenset({"bullet_list_open", "ordered_list_open"})
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_HEADING = re.compile(r"#{1,6}(?:\s|$)")


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    for start, end in _slices(lines[:PARSED_LINES]):
        tokens = _parser().parse("\n".join(lines[start:end]))
        yield from _tree(tokens, start, end, start)
    if len(lines) > PARSED_LINES:
        yield _unparsed(PARSED_LINES, len(lines))


def _unparsed(start: int, end: int) -> _Block:
    from markdown_it.token import Token

    return _Block("code_block", start, end, start, Token("code_block", "", 0), "", ())


def _slices(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield line ranges that can be parsed one by one: each begins at a heading, an item or after a gap."""
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


def _tree(tokens: Iterable[Token], start: int, end: int, offset: int) -> list[_Block]:
    """Return the blocks at one level. They cover `start` to `end`: a gap goes to the block before it."""
    found = [(token, inner) for token, inner in _nested(tokens) if token.map is not None]
    firsts = [token.map[0] + offset for token, _ in found if token.map is not None]
    blocks: list[_Block] = []
    begin = start
    for index, (token, inner) in enumerate(found):
        stop = max(firsts[index + 1], begin) if index + 1 < len(found) else end
        if stop <= begin:
            continue
        children = _tree(inner, begin, stop, offset) if token.type in _CONTAINERS else []
        title = inner[0].content if token.type == "heading_open" and inner else ""
        blocks.append(_Block(token.type, begin, stop, firsts[index], token, title, tuple(children)))
        begin = stop
    return blocks


def _nested(tokens: Iterable[Token]) -> Iterator[tuple[Token, list[Token]]]:
    """Yield each token of the outermost level with the tokens inside it."""
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


def _sections(lines: Sequence[str], limits: Limits) -> Iterator[tuple[str, list[_Piece]]]:
    """Yield the heading path and the pieces of each section; a bare heading joins a deeper one below it."""
    path: list[tuple[int, str]] = []
    pieces: list[_Piece] = []
    is_bare = False
    for block in _blocks(lines):
        if block.kind == "heading_open":
            level = int(block.token.tag[1])
            if pieces and not (is_bare and path[-1][0] < level):
                yield _heading(path), pieces
                pieces = []
            path = [*(step for step in path if step[0] < level), (level, _title(block.title))]
        is_bare = block.kind == "heading_open"
        pieces += _split(block, lines, limits)
    if pieces:
        yield _heading(path), pieces


def _title(text: str) -> str:
    text = " ".join(text.split())
    # Not `cuts.shortened`: where it cuts elsewhere, a body would give other chunks, and CHUNKER would have to change.
    return text if len(text) <= HEADING_CHARS else text[: HEADING_CHARS - 1].rstrip() + "…"


def _heading(path: Sequence[tuple[int, str]]) -> str:
    return HEADING_SEPARATOR.join(title for _, title in path if title)


# --- pieces ----------------------------------------------------------------------------------------------


def _split(block: _Block, lines: Sequence[str], limits: Limits) -> list[_Piece]:
    """Return a block's pieces: a list's by item, a short block's whole, else parts that stand alone."""
    if block.kind in _LISTS:
        return [piece for item in block.children for piece in _split(item, lines, limits)]
    whole = _source(lines, block.start, block.end)
    if whole is None:
        return []
    if len(whole.text) <= limits.piece_chars and whole.tokens <= limits.piece_tokens:
        return [whole]
    if block.kind == "fence":
        return _split_fence(block, whole, limits)
    if block.kind == "table_open":
        return _split_table(whole, limits)
    if block.children:
        return _split_container(block, lines, limits)
    return _parts(whole, limits, CODE if block.kind == "code_block" else PROSE)


def _source(lines: Sequence[str], start: int, end: int) -> _Piece | None:
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    if start == end:
        return None
    text = "\n".join(lines[start:end])
    # What is too long anyway is not counted: in nested quotes the same MiB comes by twenty times.
    return _Piece(start, end, text, estimate_tokens(text) if len(text) <= COUNTED_CHARS else math.inf)


def _parts(whole: _Piece, limits: Limits, places: Places, before: str = "", after: str = "") -> list[_Piece]:
    """Cut a piece's text; each part stands between `before` and `after`. There is at least one part."""
    inner = limits.less(before + after)
    index = LineIndex(whole.text)
    parts: list[_Piece] = []
    for start, end in cut(whole.text, inner, places):
        text = whole.text[start:end]
        bare = text.strip()
        if not bare:
            continue
        first = start + len(text) - len(text.lstrip())
        text = text.rstrip().lstrip("\n") if places is CODE else bare  # code keeps its indentation
        parts.append(
            _Piece(
                whole.start + index.line_of(first),
                whole.start + index.line_of(first + len(bare) - 1) + 1,
                before + text + after,
                estimate_tokens(before + text + after),
                is_sealed=True,
            )
        )
    return parts


def _split_fence(block: _Block, whole: _Piece, limits: Limits) -> list[_Piece]:
    """Cut the code; every part is a fence of its own with the same info string, unless that is long."""
    marks = block.token.markup if len(block.token.markup) <= 12 else "```"
    info = block.token.info.strip()
    opening = f"{marks}{info if _is_short(info, limits) else ''}\n"
    code = "\n".join(line.rstrip() for line in block.token.content.split("\n")).rstrip()
    if not code.strip():
        return [replace(whole, text=opening + marks, tokens=estimate_tokens(opening + marks))]
    first = block.first + 1
    parts = _parts(_Piece(first, whole.end, code, 0), limits, CODE, opening, f"\n{marks}")
    return _stretched(parts, whole)


def _split_table(whole: _Piece, limits: Limits) -> list[_Piece]:
    """Cut between rows; every part begins with the header, if that is not too long itself."""
    rows = whole.text.split("\n")
    header = "\n".join(rows[:2]) + "\n"
    if len(rows) < 3 or not _is_short(header, limits, share=2):
        return _parts(whole, limits, ROWS)
    body = "\n".join(rows[2:])
    return _stretched(_parts(_Piece(whole.start + 2, whole.end, body, 0), limits, ROWS, header), whole)


def _stretched(parts: Sequence[_Piece], whole: _Piece) -> list[_Piece]:
    """Let the first and the last part reach to the lines (fence, header) that no part was cut from."""
    first = replace(parts[0], start=whole.start)
    if len(parts) == 1:
        return [replace(first, end=whole.end)]
    return [first, *parts[1:-1], replace(parts[-1], end=whole.end)]


def _is_short(text: str, limits: Limits, share: int = 4) -> bool:
    return len(text) <= limits.target_chars // share and estimate_tokens(text) <= limits.piece_tokens / share


def _split_container(block: _Block, lines: Sequence[str], limits: Limits) -> list[_Piece]:
    """Pack what is inside a quote or an item; the later parts of an item begin with its first line."""
    lead = lines[block.start].strip() if block.kind == "list_item_open" else ""
    lead = f"{lead}\n" if lead and _is_short(lead, limits) else ""
    inner = limits.less(lead)
    pieces = [piece for child in block.children for piece in _split(child, lines, inner)]
    parts = [replace(piece, is_sealed=True) for piece in _packed(pieces, inner)]
    return parts[:1] + [_led(lead, part) for part in parts[1:]]


def _led(lead: str, part: _Piece) -> _Piece:
    return replace(part, text=lead + part.text, tokens=part.tokens + estimate_tokens(lead))


# --- packing ---------------------------------------------------------------------------------------------


def _packed(pieces: Sequence[_Piece], limits: Limits) -> list[_Piece]:
    """Join small neighbours up to the target; a few words do not stand alone before a piece or at the end."""
    pieces = _introduced(pieces, limits)
    packed: list[_Piece] = []
    for index, piece in enumerate(pieces):
        if packed and _belongs(packed[-1], piece, index == len(pieces) - 1, limits):
            packed[-1] = packed[-1].joined(piece)
        else:
            packed.append(piece)
    return packed


def _introduced(pieces: Sequence[_Piece], limits: Limits) -> list[_Piece]:
    """Join what ends with a colon to what it introduces: code, a table, the next paragraph."""
    joined: list[_Piece] = []
    for piece in pieces:
        if joined and joined[-1].text.endswith((":", "：")) and _fits(joined[-1], piece, limits):
            joined[-1] = joined[-1].joined(piece)
        else:
            joined.append(piece)
    return joined


def _fits(before: _Piece, piece: _Piece, limits: Limits) -> bool:
    if before.is_sealed or len(before.text) > limits.target_chars // 2:
        return False
    chars, tokens = len(before.text) + len(piece.text) + 2, before.tokens + piece.tokens
    if piece.is_sealed:
        return chars <= limits.hard_chars and tokens <= limits.hard_tokens
    return chars <= limits.piece_chars and tokens <= limits.piece_tokens


def _belongs(before: _Piece, piece: _Piece, is_last: bool, limits: Limits) -> bool:
    """Tell whether a piece goes into the chunk before it."""
    chars, tokens = len(before.text) + len(piece.text) + 2, before.tokens + piece.tokens
    few = limits.target_chars // 4
    if chars > limits.hard_chars or tokens > limits.hard_tokens:
        return False
    if len(before.text) <= few and not before.is_sealed:
        return True  # a heading, or the words before a list, table or code
    if len(piece.text) <= few and not any(map(str.isalnum, piece.text)):
        return True  # a rule, an empty quote
    if before.is_sealed or piece.is_sealed or tokens > limits.piece_tokens:
        return False
    is_tail = is_last and len(piece.text) <= few and chars <= limits.piece_chars
    return chars <= limits.target_chars or is_tail
