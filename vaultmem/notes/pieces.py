"""A block → pieces that fit a chunk: a short block whole, a long one cut where its kind allows.

Each part of a cut table begins with the header, each part of cut code is a fence of its own, and the later parts of a
list item begin with its first line, so that a part can be understood alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vaultmem.notes.markdown import LISTS, MarkdownBlock
from vaultmem.text.cuts import CODE, PROSE, ROWS, Limits, LineIndex, Places, cut, estimate_tokens

COUNTED_CHARS = 4_096


@dataclass(frozen=True, slots=True)
class Piece:
    """A text, its lines and its estimated tokens. A sealed piece is a part of a block that was cut."""

    start: int
    end: int
    text: str
    tokens: float
    is_sealed: bool = False

    def joined(self, other: Piece) -> Piece:
        """This piece with `other` behind it, an empty line between where there was one."""
        gap = "\n\n" if other.start > self.end else "\n"
        is_sealed = self.is_sealed or other.is_sealed
        return Piece(
            self.start, other.end, self.text + gap + other.text, self.tokens + other.tokens, is_sealed
        )


# --- a block, whole or cut


def pieces_of(block: MarkdownBlock, lines: Sequence[str], limits: Limits) -> list[Piece]:
    """A block's pieces: a list's by item, a short block's whole, else parts that stand alone."""
    if block.kind in LISTS:
        return [piece for item in block.children for piece in pieces_of(item, lines, limits)]
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


def _source(lines: Sequence[str], start: int, end: int) -> Piece | None:
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    if start == end:
        return None
    text = "\n".join(lines[start:end])
    # What is too long anyway is not counted: in nested quotes the same MiB comes by twenty times.
    return Piece(start, end, text, estimate_tokens(text) if len(text) <= COUNTED_CHARS else math.inf)


def _parts(whole: Piece, limits: Limits, places: Places, before: str = "", after: str = "") -> list[Piece]:
    """Cut a piece's text; each part stands between `before` and `after`. There is at least one part."""
    inner = limits.less(before + after)
    index = LineIndex(whole.text)
    parts: list[Piece] = []
    for start, end in cut(whole.text, inner, places):
        text = whole.text[start:end]
        bare = text.strip()
        if not bare:
            continue
        first = start + len(text) - len(text.lstrip())
        text = text.rstrip().lstrip("\n") if places is CODE else bare  # code keeps its indentation
        parts.append(
            Piece(
                whole.start + index.line_of(first),
                whole.start + index.line_of(first + len(bare) - 1) + 1,
                before + text + after,
                estimate_tokens(before + text + after),
                is_sealed=True,
            )
        )
    return parts


def _split_fence(block: MarkdownBlock, whole: Piece, limits: Limits) -> list[Piece]:
    """Cut the code; every part is a fence of its own with the same info string. One that is long is cut as code."""
    marks = block.token.markup if len(block.token.markup) <= 12 else "```"
    info = block.token.info.strip()
    code = "\n".join(line.rstrip() for line in block.token.content.split("\n")).rstrip()
    first = block.first + 1
    if not _is_short(info, limits):
        code, info, first = f"{info}\n{code}", "", block.first
    opening = f"{marks}{info}\n"
    if not code.strip():
        return [replace(whole, text=opening + marks, tokens=estimate_tokens(opening + marks))]
    parts = _parts(Piece(first, whole.end, code, 0), limits, CODE, opening, f"\n{marks}")
    return _stretched(parts, whole)


def _split_table(whole: Piece, limits: Limits) -> list[Piece]:
    """Cut between rows; every part begins with the header, if that is not too long itself."""
    rows = whole.text.split("\n")
    header = "\n".join(rows[:2]) + "\n"
    if len(rows) < 3 or not _is_short(header, limits, share=2):
        return _parts(whole, limits, ROWS)
    body = "\n".join(rows[2:])
    return _stretched(_parts(Piece(whole.start + 2, whole.end, body, 0), limits, ROWS, header), whole)


def _stretched(parts: Sequence[Piece], whole: Piece) -> list[Piece]:
    """Let the first and the last part reach to the lines (fence, header) that no part was cut from."""
    first = replace(parts[0], start=whole.start)
    if len(parts) == 1:
        return [replace(first, end=whole.end)]
    return [first, *parts[1:-1], replace(parts[-1], end=whole.end)]


def _is_short(text: str, limits: Limits, share: int = 4) -> bool:
    return len(text) <= limits.target_chars // share and estimate_tokens(text) <= limits.piece_tokens / share


def _split_container(block: MarkdownBlock, lines: Sequence[str], limits: Limits) -> list[Piece]:
    """Pack what is inside a quote or an item; the later parts of an item begin with its first line."""
    lead = lines[block.start].strip() if block.kind == "list_item_open" else ""
    lead = f"{lead}\n" if lead and _is_short(lead, limits) else ""
    inner = limits.less(lead)
    pieces = [piece for child in block.children for piece in pieces_of(child, lines, inner)]
    parts = [replace(piece, is_sealed=True) for piece in packed(pieces, inner)]
    return parts[:1] + [_led(lead, part) for part in parts[1:]]


def _led(lead: str, part: Piece) -> Piece:
    return replace(part, text=lead + part.text, tokens=part.tokens + estimate_tokens(lead))


# --- packing


def packed(pieces: Sequence[Piece], limits: Limits) -> list[Piece]:
    """Join small neighbours up to the target; a few words do not stand alone before a piece or at the end."""
    pieces = _introduced(pieces, limits)
    packed: list[Piece] = []
    for index, piece in enumerate(pieces):
        if packed and _belongs(packed[-1], piece, index == len(pieces) - 1, limits):
            packed[-1] = packed[-1].joined(piece)
        else:
            packed.append(piece)
    return packed


def _introduced(pieces: Sequence[Piece], limits: Limits) -> list[Piece]:
    """Join what ends with a colon to what it introduces: code, a table, the next paragraph."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].text.endswith((":", "：")) and _fits(joined[-1], piece, limits):
            joined[-1] = joined[-1].joined(piece)
        else:
            joined.append(piece)
    return joined


def _fits(before: Piece, piece: Piece, limits: Limits) -> bool:
    if before.is_sealed or len(before.text) > limits.target_chars // 2:
        return False
    chars, tokens = len(before.text) + len(piece.text) + 2, before.tokens + piece.tokens
    if piece.is_sealed:
        return chars <= limits.hard_chars and tokens <= limits.hard_tokens
    return chars <= limits.piece_chars and tokens <= limits.piece_tokens


def _belongs(before: Piece, piece: Piece, is_last: bool, limits: Limits) -> bool:
    """Whether a piece goes into the chunk before it."""
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
