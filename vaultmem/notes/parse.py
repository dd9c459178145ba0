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
    digest = digest_of(data)
    if problem := encoding_problem(data):
        return _wrong(path, digest, problem, is_readable=False)
    if not data.removeprefix(BOM).strip():
        return _wrong(path, digest, Problem(Code.EMPTY_FILE))
    block = find_block(data)
    if block is None:
        return _without_block(path, digest, data)
    if not block.is_closed:
        return _wrong(path, digest, Problem(Code.BAD_YAML, UNCLOSED_BLOCK, 1, 1), is_readable=False)
    return _with_block(path, digest, data, block)


def unknown_note(path: str, code: Code, detail: str) -> Note:
    """The note for a file whose bytes could not be had; its digest is empty."""
    return _wrong(path, "", Problem(code, detail), is_readable=False)


def digest_of(data: bytes) -> str:
    """The digest of a file's bytes: hex of blake2b with 128 bits."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


# --- the file as a whole


def encoding_problem(data: bytes) -> Problem | None:
    """Why bytes are no UTF-8 text, with the first wrong byte and its line; None when they are."""
    if data.startswith(_UTF16_MARKS) or data.startswith(_UTF16_FENCES):
        return Problem(Code.BAD_ENCODING, "it is UTF-16", 1)
    decoder, view = codecs.getincrementaldecoder("utf-8")(), memoryview(data)
    # In pieces: a 50 MB note must not be held a second time as text.
    for start in range(0, len(data), BODY_LIMIT_BYTES):
        end = min(start + BODY_LIMIT_BYTES, len(data))
        try:
            decoder.decode(view[start:end], final=end == len(data))
        except UnicodeDecodeError as error:
            at = end - len(error.object) + error.start  # the object begins with what the last piece left over
            line = data.count(b"\n", 0, at) + 1
            return Problem(Code.BAD_ENCODING, f"byte 0x{data[at]:02x} is no UTF-8", line)
    return None


def _wrong(
    path: str, digest: str, problem: Problem, *, body: str = "", line: int = 1, is_readable: bool = True
) -> Note:
    """The note for a file that says nothing usable about itself."""
    metadata = Metadata(name=stand_in_name(path, body))
    return Note(metadata, path, digest, body, line, (problem,), is_readable)


def _without_block(path: str, digest: str, data: bytes) -> Note:
    body, too_large = _body(data, len(BOM) if data.startswith(BOM) else 0)
    if MERGE_MARKER.match(data.removeprefix(BOM)):
        problem = Problem(
            Code.MERGE_CONFLICT, "the file begins with the markers of an unfinished merge", 1, 1
        )
    else:
        problem = Problem(Code.MISSING_ID, uncounted_block(body))
    return _add(_wrong(path, digest, problem, body=body), too_large)


def _with_block(path: str, digest: str, data: bytes, block: Block) -> Note:
    body, too_large = _body(data, block.body_start)
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


def _body(data: bytes, start: int) -> tuple[str, Problem | None]:
    if len(data) - start <= BODY_LIMIT_BYTES:
        return data[start:].decode(), None
    first_mib = data[start : start + BODY_LIMIT_BYTES].decode(errors="ignore")
    return first_mib, Problem(Code.TOO_LARGE, f"{len(data) / BODY_LIMIT_BYTES:.1f} MiB")


def _add(note: Note, problem: Problem | None) -> Note:
    return note if problem is None else replace(note, problems=(*note.problems, problem))
