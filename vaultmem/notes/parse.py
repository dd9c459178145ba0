"""Bytes → Note: the rules by which a Markdown file is read as a note.

`parse_note` never raises: whatever is wrong with a file becomes a `Problem` of its note.
"""

from __future__ import annotations

import codecs
import hashlib
from dataclasses import dataclass, replace

from vaultmem.notes.block import (
    BOM,
    MERGE_MARKER,
    NO_FIELDS,
    UNCLOSED_BLOCK,
    Block,
    find_block,
    read_block,
    second_block,
    uncounted_block,
)
from vaultmem.notes.field_rules import read_metadata, stand_in_name
from vaultmem.notes.metadata import Metadata, WithMetadata
from vaultmem.notes.problems import Code, Problem
from vaultmem.notes.tree import Fields

BODY_LIMIT_BYTES = 1024 * 1024
PIECE_BYTES = 1024 * 1024
"""Of a file at a time."""
HEAD_BYTES = 4 * BODY_LIMIT_BYTES
"""So much of a file is looked at for what it says: a block of any length that counts, and the body that counts."""
DIGEST_BYTES = 16

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF16_FENCES = (b"-\0-\0-\0", b"\0-\0-\0-")


@dataclass(frozen=True, slots=True)
class Note(WithMetadata):
    """One note as read from its file, and what is wrong with it."""

    path: str  # relative to the memory root, '/' between the parts
    digest: str  # hex of blake2b-128 of the file's bytes; "" when they could not be read
    body: str  # everything after the block as it is in the file; the first MiB when `too_large`
    body_line: int  # line of the file on which the body begins, from 1
    problems: tuple[Problem, ...]  # facts of this file alone: no conflict_id, no sync_conflict_copy
    is_readable: bool  # False: could not be read, or is half written; what was known about it stands


def parse_note(path: str, data: bytes) -> Note:
    """The note that these bytes of its file are. Never raises, whatever the bytes are."""
    return _taken_in(data).note(path)


def unknown_note(path: str, code: Code, detail: str) -> Note:
    """The note for a file whose bytes could not be had; its digest is empty."""
    return _wrong(path, "", Problem(code, detail), is_readable=False)


def digest_of(data: bytes) -> str:
    """The digest of a file's bytes: hex of blake2b with 128 bits."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()


# --- the file as a whole


class Intake:
    """The bytes of a file as they come in, piece by piece: their digest, and whether they are UTF-8 text.

    Only their beginning is kept, which holds all that a note says: a file of any size costs no more.
    """

    def __init__(self) -> None:
        self.size = 0
        self._hash = hashlib.blake2b(digest_size=DIGEST_BYTES)
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._head = b""
        self._lines = 0
        self._is_blank = True
        self._problem: Problem | None = None

    def add(self, piece: bytes) -> None:
        """Take in the next piece; the first one is at least six bytes, or all."""
        self._hash.update(piece)
        if self.size == 0 and (piece.startswith(_UTF16_MARKS) or piece.startswith(_UTF16_FENCES)):
            self._problem = Problem(Code.BAD_ENCODING, "it is UTF-16", 1)
        if self._problem is None:
            self._decode(piece)
        if self._is_blank:
            text = piece if self.size else piece.removeprefix(BOM)
            self._is_blank = not text or text.isspace()
        if len(self._head) < HEAD_BYTES:
            self._head = (
                self._head + piece[: HEAD_BYTES - len(self._head)] if self._head else piece[:HEAD_BYTES]
            )
        self.size += len(piece)

    def _decode(self, piece: bytes, *, is_last: bool = False) -> None:
        try:
            self._decoder.decode(piece, final=is_last)
        except UnicodeDecodeError as error:  # its object begins with what the last piece left over
            line = self._lines + error.object.count(b"\n", 0, error.start) + 1
            detail = f"byte 0x{error.object[error.start]:02x} is no UTF-8"
            self._problem = Problem(Code.BAD_ENCODING, detail, line)
        self._lines += piece.count(b"\n")

    def encoding_problem(self) -> Problem | None:
        """Why the bytes are no UTF-8 text, now that all are in; None when they are."""
        if self._problem is None:
            self._decode(b"", is_last=True)
        return self._problem

    @property
    def digest(self) -> str:
        """The digest of what came in so far."""
        return self._hash.hexdigest()

    def note(self, path: str) -> Note:
        """The note that the bytes are, now that all are in."""
        digest, head = self.digest, self._head
        if problem := self.encoding_problem():
            return _wrong(path, digest, problem, is_readable=False)
        if self._is_blank:
            return _wrong(path, digest, Problem(Code.EMPTY_FILE))
        block = find_block(head)
        if block is None:
            return _without_block(path, digest, head, self.size)
        if not block.is_closed:
            return _wrong(path, digest, Problem(Code.BAD_YAML, UNCLOSED_BLOCK, 1, 1), is_readable=False)
        return _with_block(path, digest, head, self.size, block)


def _taken_in(data: bytes) -> Intake:
    intake, view = Intake(), memoryview(data)
    for start in range(0, len(data), PIECE_BYTES):  # a large note must not be held a second time as text
        intake.add(data if len(data) <= PIECE_BYTES else bytes(view[start : start + PIECE_BYTES]))
    return intake


def encoding_problem(data: bytes) -> Problem | None:
    """Why bytes are no UTF-8 text, with the first wrong byte and its line; None when they are."""
    return _taken_in(data).encoding_problem()


def _wrong(
    path: str, digest: str, problem: Problem, *, body: str = "", line: int = 1, is_readable: bool = True
) -> Note:
    """The note for a file that says nothing usable about itself."""
    metadata = Metadata(name=stand_in_name(path, body))
    return Note(metadata, path, digest, body, line, (problem,), is_readable)


def _without_block(path: str, digest: str, data: bytes, size: int) -> Note:
    body, too_large = _body(data, len(BOM) if data.startswith(BOM) else 0, size)
    if MERGE_MARKER.match(data.removeprefix(BOM)):
        problem = Problem(
            Code.MERGE_CONFLICT, "the file begins with the markers of an unfinished merge", 1, 1
        )
    else:
        problem = Problem(Code.MISSING_ID, uncounted_block(body))
    return _add(_wrong(path, digest, problem, body=body), too_large)


def _with_block(path: str, digest: str, data: bytes, size: int, block: Block) -> Note:
    body, too_large = _body(data, block.body_start, size)
    line = data.count(b"\n", 0, block.body_start) + 1
    tree = read_block(data, block)
    if isinstance(tree, Problem):
        note = _wrong(path, digest, tree, body=body, line=line)
    elif isinstance(tree, Fields):
        metadata, problems = read_metadata(tree, path, body, line)
        note = Note(metadata, path, digest, body, line, problems, is_readable=True)
    else:
        detail = second_block(body, line) or (
            NO_FIELDS if tree is not None else "its metadata block is empty"
        )
        problem = Problem(Code.MISSING_ID, detail)
        note = _wrong(path, digest, problem, body=body, line=line)
    return _add(note, too_large)


def _body(data: bytes, start: int, size: int) -> tuple[str, Problem | None]:
    """The body as far as it counts, of a file of `size` bytes that begins with `data`."""
    if size - start <= BODY_LIMIT_BYTES:
        return data[start:].decode(), None
    first_mib = data[start : start + BODY_LIMIT_BYTES].decode(errors="ignore")
    return first_mib, Problem(Code.TOO_LARGE, f"{size / BODY_LIMIT_BYTES:.1f} MiB")


def _add(note: Note, problem: Problem | None) -> Note:
    return note if problem is None else replace(note, problems=(*note.problems, problem))
