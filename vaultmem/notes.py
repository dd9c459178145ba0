"""Bytes → Note: the rules by which a Markdown file is read as a note.

`parse_note` never raises: whatever is wrong with a file becomes a `Problem` of its note.
"""

from __future__ import annotations

import codecs
import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from vaultmem.metadata import (
    BLOCK_LIMIT_BYTES,
    BOM,
    Block,
    BlockError,
    Listing,
    Mapping,
    Node,
    Scalar,
    find_block,
    read_tree,
    resolve,
)
from vaultmem.names import is_note_name, is_skipped_folder, new_id, note_path, sync_copy_of
from vaultmem.problems import Code, Problem

__all__ = [
    "BODY_LIMIT_BYTES",
    "Code",
    "Note",
    "Problem",
    "Status",
    "digest_of",
    "is_note_name",
    "is_skipped_folder",
    "new_id",
    "normalise_tag",
    "normalise_tags",
    "note_path",
    "parse_note",
    "split_tag_text",
    "sync_copy_of",
    "unknown_note",
]

BODY_LIMIT_BYTES = 1024 * 1024
ID_LIMIT_CHARS = 128

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF16_STARTS = (b"-\0-\0-\0", b"\0-\0-\0-", b"#\0 \0", b"\0#\0 ")
_MERGE_MARKER = re.compile(rb"^(?:<{7}|>{7})(?: |\r?$)", re.MULTILINE)
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_CODE_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TEMPLATE = re.compile(
    r"\A\s*\{\{[^{}]*\}\}\s*\Z|\{\{\s*(?:title|date|time|id|uuid|name|yesterday|tomorrow)\b[^{}]*\}\}|<%[-_*+]?\s*tp\."
)
_TAG_COMMAS = re.compile("[,，、]")
_MEMORY_KEYS = frozenset({"id", "name", "description", "tags", "status"})


class Status(StrEnum):
    """The status of a note; INVALID stands for any word that is neither `active` nor `deprecated`."""

    ACTIVE = "active"
    DEPRECATED = "deprecated"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Note:
    """One note as read from its file, and what is wrong with it."""

    path: str  # relative to the memory root, '/' between the parts
    digest: str  # hex of blake2b-128 of the file's bytes; "" when they could not be read
    id: str | None  # None: no usable id (missing, invalid, or the note is wrong)
    name: str
    description: str  # "" when missing; white-space runs are one space here and in `name`
    tags: tuple[str, ...]  # normalised
    status: Status
    created_at: str | None  # the text as written
    updated_at: str | None
    body: str  # everything after the block as it is in the file; the first MiB when `too_large`
    body_line: int  # line of the file on which the body begins, from 1
    problems: tuple[Problem, ...]  # facts of this file alone: no conflict_id, no sync_conflict_copy
    is_known: bool  # False: could not be read, or is half written; keep what was known about it


def parse_note(path: str, data: bytes) -> Note:
    """Read a note from the bytes of its file. Never raises, whatever the bytes are."""
    digest = digest_of(data)
    if problem := _encoding_problem(data):
        return _wrong(path, digest, problem, is_known=False)
    if not data.removeprefix(BOM).strip():
        return _wrong(path, digest, Problem(Code.EMPTY_FILE), body=data.removeprefix(BOM).decode())
    block = find_block(data)
    if block is None:
        return _without_block(path, digest, data)
    if not block.is_closed:
        detail = "the opening --- on line 1 has no closing ---"
        return _wrong(path, digest, Problem(Code.BAD_YAML, detail, 1, 1), is_known=False)
    return _with_block(path, digest, data, block)


def unknown_note(path: str, code: Code, detail: str) -> Note:
    """Return the note for a file whose bytes could not be had; its digest is empty."""
    return _wrong(path, "", Problem(code, detail), is_known=False)


def digest_of(data: bytes) -> str:
    """Return the digest of a file's bytes: hex of blake2b with 128 bits."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def normalise_tags(values: Iterable[str]) -> tuple[str, ...]:
    """Normalise each tag; empties and repeats are dropped, the order of first appearance is kept."""
    return tuple(dict.fromkeys(tag for tag in map(normalise_tag, values) if tag))


def normalise_tag(text: str) -> str:
    """Return the normal form of one tag, or "" when nothing of it can be kept.

    NFKC, trimmed, leading `#` dropped, lower case, inner white space to `-`, letters (with their marks) and
    digits of any script and `/ - _` kept. Applying it again changes nothing.
    """
    while (normal := _normalise_once(text)) != text:
        text = normal
    return normal


def split_tag_text(text: str) -> list[str]:
    """Split tags given as one text: at commas (also `，` and `、`) when there are any, else at white space."""
    return _TAG_COMMAS.split(text) if _TAG_COMMAS.search(text) else text.split()


def _normalise_once(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).strip().lstrip("#").strip().lower()
    dashed = "-".join(folded.split())
    kept = "".join(c for c in dashed if c in "/-_" or unicodedata.category(c)[0] in "LMN")
    return unicodedata.normalize("NFKC", kept)


# ------------------------------------------------------------------------------------------ the file as a whole


def _encoding_problem(data: bytes) -> Problem | None:
    if data.startswith(_UTF16_MARKS) or data.startswith(_UTF16_STARTS):
        return Problem(Code.BAD_ENCODING, "the file is UTF-16", 1, 1)
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    # In pieces: a 50 MB note must not be held a second time as text.
    for start in range(0, len(data) + 1, BODY_LIMIT_BYTES):
        piece = view[start : start + BODY_LIMIT_BYTES]
        try:
            decoder.decode(piece, final=start + len(piece) == len(data))
        except UnicodeDecodeError as error:
            # `error.object` also holds the bytes carried over from the piece before.
            at = start + len(piece) - len(error.object) + error.start
            line = data.count(b"\n", 0, at) + 1
            return Problem(Code.BAD_ENCODING, f"byte 0x{data[at]:02x} is not UTF-8", line)
    return None


def _wrong(
    path: str, digest: str, problem: Problem, *, body: str = "", line: int = 1, is_known: bool = True
) -> Note:
    """Return the note for a file that says nothing usable about itself."""
    name = _first_heading(body) or _stem(path)
    return Note(path, digest, None, name, "", (), Status.ACTIVE, None, None, body, line, (problem,), is_known)


def _without_block(path: str, digest: str, data: bytes) -> Note:
    body, too_large = _body(data, len(BOM) if data.startswith(BOM) else 0)
    if _MERGE_MARKER.match(data.removeprefix(BOM)):
        detail = "the file begins with the markers of an unfinished git merge"
        problem = Problem(Code.MERGE_CONFLICT, detail, 1, 1)
    else:
        problem = Problem(Code.MISSING_ID, _no_block_detail(body))
    note = _wrong(path, digest, problem, body=body)
    return _add(note, too_large)


def _no_block_detail(body: str) -> str:
    if re.match(r"\s+---[ \t]*\r?\n", body):
        return "a blank line stands before the metadata block, so it does not count; it must begin on line 1"
    return "the file has no metadata block"


def _with_block(path: str, digest: str, data: bytes, block: Block) -> Note:
    body, too_large = _body(data, block.body_start)
    line = data.count(b"\n", 0, block.body_start) + 1
    tree = _read_block(data, block)
    if isinstance(tree, Problem):
        note = _wrong(path, digest, tree, body=body, line=line)
    elif not isinstance(tree, Mapping):
        problem = Problem(Code.MISSING_ID, _no_fields_detail(tree, body, line))
        note = _wrong(path, digest, problem, body=body, line=line)
    else:
        note = _interpret(path, digest, tree, body, line)
    return _add(note, too_large)


def _read_block(data: bytes, block: Block) -> Node | Problem | None:
    if block.end - block.start > BLOCK_LIMIT_BYTES:
        detail = f"the metadata block is longer than {BLOCK_LIMIT_BYTES // 1024} KiB"
        return Problem(Code.BAD_YAML, detail, 1, 1)
    if marker := _MERGE_MARKER.search(data, block.start, block.end):
        line = data.count(b"\n", 0, marker.start()) + 1
        return Problem(Code.MERGE_CONFLICT, "the block holds the markers of an unfinished git merge", line, 1)
    try:
        return read_tree(data[block.start : block.end].decode())
    except BlockError as error:
        return error.problem


def _body(data: bytes, start: int) -> tuple[str, Problem | None]:
    if len(data) - start <= BODY_LIMIT_BYTES:
        return data[start:].decode(), None
    cut = data[start : start + BODY_LIMIT_BYTES].decode(errors="ignore")
    return cut, Problem(Code.TOO_LARGE, f"{len(data) / BODY_LIMIT_BYTES:.1f} MiB")


def _add(note: Note, problem: Problem | None) -> Note:
    if problem is None:
        return note
    from dataclasses import replace

    return replace(note, problems=(*note.problems, problem))


def _no_fields_detail(tree: Node | None, body: str, body_line: int) -> str:
    if second := _second_block_line(body, body_line):
        return f"a second metadata block follows on line {second}, and only the first one counts"
    if tree is None:
        return "the metadata block is empty"
    kind = "a list" if isinstance(tree, Listing) else "plain text"
    return f"the metadata block is {kind}, not `key: value` lines"


def _second_block_line(body: str, body_line: int) -> int | None:
    """Return the line of a block that directly follows the first one, if it looks like a memory's."""
    stripped = body.lstrip()
    candidate = stripped.encode()
    block = find_block(candidate)
    if block is None or not block.is_closed or block.end > BLOCK_LIMIT_BYTES:
        return None
    try:
        tree = read_tree(candidate[block.start : block.end].decode())
    except BlockError:
        return None
    if isinstance(tree, Mapping) and any(entry.key.text in _MEMORY_KEYS for entry in tree.entries):
        return body_line + body[: len(body) - len(stripped)].count("\n")
    return None


def _stem(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return name[:-3] if name[-3:].lower() == ".md" else name


def _first_heading(body: str) -> str:
    """Return the text of the first `#` heading outside code fences, or ""."""
    fence = ""
    for line in body.split("\n"):
        if opened := _CODE_FENCE.match(line):
            mark = opened.group(1)
            if not fence:
                fence = mark
            elif mark.startswith(fence):
                fence = ""
        elif not fence and (heading := _HEADING.fullmatch(line.rstrip("\r"))) and heading.group(1):
            return _one_line(heading.group(1))
    return ""


# ------------------------------------------------------------------------------------------ the fields


def _interpret(path: str, digest: str, tree: Mapping, body: str, body_line: int) -> Note:
    problems: list[Problem] = []
    id_ = _read_id(tree, body, body_line, problems)
    complaints = problems if id_ is not None or problems[-1].code is not Code.MISSING_ID else []
    name = _read_name(tree, path, body, complaints)
    status = _read_status(tree, complaints)
    tags = _read_tags(tree, complaints)
    problems.extend(_placeholders(tree))
    return Note(
        path,
        digest,
        id_,
        name,
        _one_line(_text(tree, "description") or ""),
        tags,
        status,
        _text(tree, "created_at"),
        _text(tree, "updated_at"),
        body,
        body_line,
        tuple(problems),
        True,
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _text(tree: Mapping, key: str) -> str | None:
    """Return the text of a scalar field; None when it is missing, null, blank or no scalar."""
    value = tree.find(key)
    if not isinstance(value, Scalar) or value.is_null:
        return None
    return value.text.strip() or None


def _read_id(tree: Mapping, body: str, body_line: int, problems: list[Problem]) -> str | None:
    value = tree.find("id")
    if value is None or (isinstance(value, Scalar) and (value.is_null or not value.text.strip())):
        problems.append(_missing_id(value, body, body_line))
        return None
    if not isinstance(value, Scalar):
        problems.append(Problem(Code.INVALID_ID, "it is a list or a mapping", value.line, value.column))
        return None
    text = value.text.strip()
    if len(text) > ID_LIMIT_CHARS:
        detail = f"it has {len(text)} characters, {ID_LIMIT_CHARS} are allowed"
    elif any(unicodedata.category(character) == "Cc" for character in text):
        detail = "it holds a line break or another control character"
    else:
        return text
    problems.append(Problem(Code.INVALID_ID, detail, value.line, value.column))
    return None


def _missing_id(value: Node | None, body: str, body_line: int) -> Problem:
    if value is not None:
        return Problem(Code.MISSING_ID, "the id is empty", value.line, value.column)
    if second := _second_block_line(body, body_line):
        detail = f"a second metadata block follows on line {second}, and only the first one counts"
        return Problem(Code.MISSING_ID, detail)
    return Problem(Code.MISSING_ID)


def _read_name(tree: Mapping, path: str, body: str, problems: list[Problem]) -> str:
    if name := _one_line(_text(tree, "name") or ""):
        return name
    heading = _first_heading(body)
    problems.append(Problem(Code.MISSING_NAME, "the first heading" if heading else "the file's name"))
    return heading or _stem(path)


def _read_status(tree: Mapping, problems: list[Problem]) -> Status:
    value = tree.find("status")
    if value is None or (isinstance(value, Scalar) and (value.is_null or not value.text.strip())):
        problems.append(Problem(Code.MISSING_STATUS))
        return Status.ACTIVE
    word = value.text.strip() if isinstance(value, Scalar) else "a list or a mapping"
    for status in (Status.ACTIVE, Status.DEPRECATED):
        if isinstance(value, Scalar) and word.casefold() == status.value:
            return status
    problems.append(Problem(Code.INVALID_STATUS, word, value.line, value.column))
    return Status.INVALID


def tag_node(tree: Mapping) -> tuple[str, Node | None]:
    """Return the key under which the note keeps its tags, and their value: `tags`, else `tag` where that has one."""
    tags = tree.find("tags")
    if tags is None or (isinstance(tags, Scalar) and tags.is_null):
        tag = tree.find("tag")
        if tag is not None and not (isinstance(tag, Scalar) and tag.is_null):
            return "tag", tag
    return "tags", tags


def _read_tags(tree: Mapping, problems: list[Problem]) -> tuple[str, ...]:
    _, value = tag_node(tree)
    tags = []
    for item, line, column in _tag_items(value):
        tag = normalise_tag(item) if item is not None else ""
        if tag:
            tags.append(tag)
        elif item is None or item.strip():
            detail = "a list or a mapping" if item is None else _one_line(item)
            problems.append(Problem(Code.TAG_INVALID, detail, line, column))
    return tuple(dict.fromkeys(tags))


def _tag_items(value: Node | None) -> Iterator[tuple[str | None, int, int]]:
    """Yield each written tag with its place; None stands for an item that is no text."""
    if isinstance(value, Scalar):
        if not value.is_null:
            for text in split_tag_text(value.text):
                yield text, value.line, value.column
    elif isinstance(value, Listing):
        for item in map(resolve, value.items):
            if not isinstance(item, Scalar):
                yield None, item.line, item.column
            elif not item.is_null:
                yield item.text, item.line, item.column
    elif value is not None:
        yield None, value.line, value.column


def _placeholders(tree: Mapping) -> Iterator[Problem]:
    """Find fields that still hold a template's placeholder, such as `{{title}}` or `<% tp.date.now() %>`."""
    for entry in tree.entries:
        value = resolve(entry.value)
        for scalar in value.items if isinstance(value, Listing) else (value,):
            if isinstance(scalar, Scalar) and _TEMPLATE.search(scalar.text):
                detail = f"{entry.key.text}: {_one_line(scalar.text)}"
                yield Problem(Code.TEMPLATE_PLACEHOLDER, detail, scalar.line, scalar.column)
                break
