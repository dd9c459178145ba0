"""The body of a note, cut into the pieces that are embedded, along its Markdown structure.

    body → blocks (a CommonMark parser finds them) → pieces (a block, or a part of a long one) → chunks
    (pieces packed)

A chunk's text is the note's own Markdown and holds body only. Its identity is the hash of that text:
line numbers and headings are where it was found, not what it is, so a line inserted above re-embeds
nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from vaultmem.cuts import CODE, PROSE, ROW, LineIndex, Limits, cut

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

CHUNKER = "chunks-1"  # changes when the same body gives other chunks
HEADING_SEPARATOR = " › "
MIN_TARGET_CHARS = 100
HEADING_CHARS = 80
SLICE_CHARS = 65_536  # what is parsed at a time: a MiB of list items would be a million tokens at once


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
    """A block of the body: lines `start` to `end` (from 0, end excluded) and the blocks inside."""

    kind: str
    start: int
    end: int
    token: Token
    children: tuple[_Block, ...] = ()


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text and its lines. Nothing is put behind a sealed piece: it is a part of a block that was cut."""

    start: int
    end: int
    text: str
    is_sealed: bool = False


def split_body(
    body: str, body_line: int = 1, *, target: int = 400, limit_chars: int = 1_048_576
) -> tuple[Chunk, ...]:
    """Return the chunks of a body in order; none for a blank body. Line ends do not matter (CRLF gives what LF gives).

    Every line that is not blank lies in some chunk's range. No text is longer than twice the target (at
    least `MIN_TARGET_CHARS`), nor than the e5 window by a conservative estimate. Text after
    `limit_chars` is left out.
    """
    limits = Limits.around(max(target, MIN_TARGET_CHARS))
    lines = _lines(body[:limit_chars])
    chunks: list[Chunk] = []
    for heading, pieces in _sections(lines, limits):
        for piece in _packed(pieces, limits):
            chunks.append(
                Chunk(
                    len(chunks),
                    heading,
                    body_line + piece.start,
                    body_line + piece.end - 1,
                    piece.text,
                    text_hash(piece.text),
                )
            )
    return tuple(chunks)


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


def _lines(body: str) -> list[str]:
    # Only \n and \r\n end a line here; the parser would take a lone \r for one too.
    return [line.rstrip() for line in body.replace("\r\n", "\n").replace("\r", " ").split("\n")]


# --- blocks ----------------------------------------------------------------------------------------------


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Blocks are all that is asked for. A link definition would leave no token, and Obsidian's footnotes
    # look like one.
    return MarkdownIt("commonmark").enable("table").disable(["reference", "inline"])


def _blocks(lines: Sequence[str], first_line: int) -> list[_Block]:
    tokens = _parser().parse("\n".join(lines))
    return _tree(iter(tokens), first_line, first_line + len(lines), first_line)


def _tree(tokens: Iterator[Token], start: int, end: int, first_line: int) -> list[_Block]:
    """Return the blocks at one level; together they cover `start` to `end`, gaps going to the block before."""
    found: list[tuple[int, Token, list[Token]]] = []
    for token in tokens:
        inner: list[Token] = []
        if token.nesting == 1:
            depth = 1
            for inside in tokens:
                depth += inside.nesting
                if depth == 0:
                    break
                inner.append(inside)
        if token.map is not None:
            found.append((token.map[0] + first_line, token, inner))
    blocks: list[_Block] = []
    for index, (line, token, inner) in enumerate(found):
        begin = start if index == 0 else max(line, blocks[-1].end)
        stop = max(found[index + 1][0] if index + 1 < len(found) else end, begin)
        children = _tree(iter(inner), begin, stop, first_line) if token.type in _CONTAINERS else []
        blocks.append(_Block(token.type, begin, stop, token, tuple(children)))
    return [block for block in blocks if block.end > block.start]


_CONTAINERS = frozenset({"blockquote_open", "bullet_list_open", "ordered_list_open", "list_item_open"})
_LISTS = frozenset({"bullet_list_open", "ordered_list_open"})


def _sections(lines: Sequence[str], limits: Limits) -> Iterator[tuple[str, list[_Piece]]]:
    """Yield the heading path and the pieces of each section; a heading alone joins the deeper one that follows."""
    path: list[tuple[int, str]] = []
    pieces: list[_Piece] = []
    is_bare = True
    for first_line, part in _slices(lines):
        for block in _blocks(part, first_line):
            if block.kind == "heading_open":
                level = int(block.token.tag[1])
                if pieces and not (is_bare and path and path[-1][0] < level):
                    yield _heading(path), pieces
                    pieces = []
                path = [step for step in path if step[0] < level]
                path.append((level, _title(lines[block.start : block.end])))
                is_bare = True
            else:
                is_bare = False
            pieces += _split(block, lines, limits)
    if pieces:
        yield _heading(path), pieces


def _slices(lines: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    yield 0, lines


_MARKS = re.compile(r"^\s{0,3}#{1,6}(?=\s|$)|(?<=\s)#+\s*$|^\s{0,3}(?:=+|-+)\s*$")


def _title(lines: Sequence[str]) -> str:
    text = " ".join(" ".join(_MARKS.sub("", line) for line in lines).split())
    return text if len(text) <= HEADING_CHARS else text[: HEADING_CHARS - 1].rstrip() + "…"


def _heading(path: Sequence[tuple[int, str]]) -> str:
    return HEADING_SEPARATOR.join(title for _, title in path if title)


# --- pieces ----------------------------------------------------------------------------------------------


def _split(block: _Block, lines: Sequence[str], limits: Limits) -> list[_Piece]:
    """Return the pieces of a block: itself when it is short, a list by its items, else parts that stand alone."""
    if block.kind in _LISTS:
        return [piece for item in block.children for piece in _split(item, lines, limits)]
    whole = _source(lines, block.start, block.end)
    if whole is None:
        return []
    if limits.is_piece(whole.text):
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
    return _Piece(start, end, "\n".join(lines[start:end])) if end > start else None


def _parts(
    whole: _Piece, limits: Limits, places: Sequence[re.Pattern[str]], before: str = "", after: str = ""
) -> list[_Piece]:
    """Cut a piece's text; each part stands between `before` and `after`."""
    inner = limits.less(before + after)
    index = LineIndex(whole.text)
    parts: list[_Piece] = []
    for start, end in cut(whole.text, inner, places):
        text = whole.text[start:end]
        if not text.strip():
            continue
        start += len(text) - len(text.lstrip())
        end = start + len(text.strip())
        text = text.rstrip().strip("\n") if places is CODE else text.strip()
        lines = whole.start + index.line_of(start), whole.start + index.line_of(end - 1) + 1
        parts.append(_Piece(*lines, before + text + after, is_sealed=True))
    return parts


def _split_fence(block: _Block, whole: _Piece, limits: Limits) -> list[_Piece]:
    """Cut the code; every part is a whole fence with the same info string."""
    info = block.token.info.strip()[: limits.target_chars // 4]
    marks = block.token.markup[:12]
    code = "\n".join(line.rstrip() for line in block.token.content.split("\n")).rstrip()
    first = block.start + 1
    if not code.strip():
        return []
    parts = _parts(_Piece(first, whole.end, code), limits, CODE, f"{marks}{info}\n", f"\n{marks}")
    parts[0] = replace(parts[0], start=whole.start)
    parts[-1] = replace(parts[-1], end=max(whole.end, parts[-1].end))
    return parts


def _split_table(whole: _Piece, limits: Limits) -> list[_Piece]:
    """Cut between rows; every part begins with the header. A row that is too long is cut as a text."""
    rows = whole.text.split("\n")
    header = "\n".join(rows[:2]) + "\n"
    if len(header) > limits.target_chars // 2:
        return _parts(whole, limits, PROSE)
    body = _Piece(whole.start + 2, whole.end, "\n".join(rows[2:]))
    places = CODE if max(map(len, rows)) <= limits.target_chars // 2 else PROSE
    parts = _parts(body, limits, places, header)
    parts[0] = replace(parts[0], start=whole.start)
    return parts


def _split_container(block: _Block, lines: Sequence[str], limits: Limits) -> list[_Piece]:
    """Pack what is inside a quote or an item; the parts of an item repeat its first line."""
    lead = lines[block.start].strip() if block.kind == "list_item_open" else ""
    if len(lead) > limits.target_chars // 4:
        lead = lead[: limits.target_chars // 4].rstrip() + "…"
    inner = limits.less(lead)
    pieces = [piece for child in block.children for piece in _split(child, lines, inner)]
    parts = [replace(piece, is_sealed=True) for piece in _packed(pieces, inner)]
    if not lead:
        return parts
    return parts[:1] + [_with_lead(lead, part, limits) for part in parts[1:]]


def _with_lead(lead: str, part: _Piece, limits: Limits) -> _Piece:
    text = f"{lead}\n{part.text}"
    return replace(part, text=text) if limits.is_allowed(text) else part


# --- packing ---------------------------------------------------------------------------------------------


def _packed(pieces: Sequence[_Piece], limits: Limits) -> list[_Piece]:
    """Join small neighbours up to the target; a few words before a longer piece, or at the end, do not stand alone."""
    packed: list[_Piece] = []
    for index, piece in enumerate(pieces):
        is_last = index == len(pieces) - 1
        if packed and _belongs(packed[-1], piece, is_last, limits):
            packed[-1] = _joined(packed[-1], piece)
        else:
            packed.append(piece)
    return packed


def _belongs(before: _Piece, piece: _Piece, is_last: bool, limits: Limits) -> bool:
    joined = _joined(before, piece).text
    if not limits.is_allowed(joined):
        return False
    small = limits.target_chars // 4
    if len(before.text) <= small and not before.is_sealed:
        return True
    if not any(character.isalnum() for character in piece.text):
        return True
    if before.is_sealed or piece.is_sealed:
        return False
    return len(joined) <= limits.target_chars or (
        is_last and len(piece.text) <= small and limits.is_piece(joined)
    )


def _joined(before: _Piece, piece: _Piece) -> _Piece:
    gap = "\n\n" if piece.start > before.end else "\n"
    return _Piece(
        before.start, piece.end, before.text + gap + piece.text, before.is_sealed or piece.is_sealed
    )
