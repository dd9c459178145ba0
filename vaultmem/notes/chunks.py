"""The body of a note, cut into the pieces that are embedded, along its Markdown structure.

    body → blocks (`markdown`) → pieces (a block, or a part of a long one; `pieces`) → chunks (pieces packed)

A chunk's text is the note's own Markdown and holds body only. Its identity is the hash of that text:
line numbers and headings are where it was found, not what it is, so a line inserted above re-embeds
nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from vaultmem.notes.markdown import markdown_blocks
from vaultmem.notes.pieces import Piece, packed, pieces_of
from vaultmem.text.cuts import Limits, cut

CHUNKER = "chunks-3"  # changes when the same body gives other chunks
HEADING_SEPARATOR = " › "
HEADING_CHARS = 80
MIN_TARGET_CHARS = 100


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


def split_body(
    body: str, body_line: int = 1, *, target: int = 200, limit_chars: int = 1_048_576
) -> tuple[Chunk, ...]:
    """The chunks of a body in order, none for a blank body; CRLF gives the chunks that LF gives.

    Every line that is not blank lies in some chunk's range. No text is longer than twice the target (at
    least twice `MIN_TARGET_CHARS`), nor than the e5 window by a careful estimate. What comes after
    `limit_chars` is left out.
    """
    limits = Limits.around(max(target, MIN_TARGET_CHARS))
    found = [
        (heading, piece)
        for heading, pieces in _sections(_lines(body, limit_chars), limits)
        for piece in packed(pieces, limits)
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
    """The identity of an embedded text: blake2b-128 of its UTF-8, in hex."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def metadata_text(name: str, description: str, tags: Iterable[str]) -> str:
    """What is embedded as a note's metadata: name, description and tags, each on its own line.

    The tags come last, because a very long text is cut at its end to fit the model's window.
    """
    text = "\n".join(part for part in (name, description, " ".join(tags)) if part)
    limits = Limits.around(400)
    if limits.is_allowed(text):
        return text
    beginning = text[: 4 * limits.hard_chars]  # what lies behind does not move the first cut
    return beginning[slice(*cut(beginning, limits)[0])].rstrip()


def _lines(body: str, limit_chars: int) -> list[str]:
    # Only \n and \r\n end a line here; the parser would take a lone \r for one too.
    text = body[: 2 * limit_chars].replace("\r\n", "\n").replace("\r", " ")[:limit_chars]
    return [line.rstrip() for line in text.split("\n")]


def _sections(lines: Sequence[str], limits: Limits) -> Iterator[tuple[str, list[Piece]]]:
    """The heading path and the pieces of each section; a bare heading joins a deeper one below it."""
    path: list[tuple[int, str]] = []
    pieces: list[Piece] = []
    is_bare = False
    for block in markdown_blocks(lines):
        if level := block.heading_level:
            if pieces and not (is_bare and path[-1][0] < level):
                yield _heading(path), pieces
                pieces = []
            path = [*(step for step in path if step[0] < level), (level, _title(block.title))]
        is_bare = level is not None
        pieces += pieces_of(block, lines, limits)
    if pieces:
        yield _heading(path), pieces


def _title(text: str) -> str:
    text = " ".join(text.split())
    # Not `cuts.shortened`: where it cuts elsewhere, a body would give other chunks, and CHUNKER would have to change.
    return text if len(text) <= HEADING_CHARS else text[: HEADING_CHARS - 1].rstrip() + "…"


def _heading(path: Sequence[tuple[int, str]]) -> str:
    return HEADING_SEPARATOR.join(title for _, title in path if title)
