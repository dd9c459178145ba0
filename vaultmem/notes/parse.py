"""Bytes → Note: the rules by which a Markdown file is read as a note.

`parse_note` never raises: whatever is wrong with a file becomes a `Problem` of its note.
"""

from __future__ import annotations

import codecs
import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

from vaultmem.notes.block import BLOCK_LIMIT_BYTES, BOM, Block, BlockError, find_block, read_tree
from vaultmem.notes.metadata import Metadata, Status, WithMetadata
from vaultmem.notes.problems import Code, Problem
from vaultmem.notes.tags import normalise_tag, split_tag_text
from vaultmem.notes.tree import Entry, Fields, Listing, Node, Resolved, Scalar, resolve
from vaultmem.notes.yaml_errors import UNCLOSED_BLOCK
from vaultmem.text.shown import JOINERS

BODY_LIMIT_BYTES = 1024 * 1024
ID_LIMIT_CHARS = 128

# Why there is no id, where more is to be said than that; `vaultmem.notes.diagnostics` knows how to mend each.
NOT_ON_LINE_1 = "its metadata block does not begin on line 1, so it does not count"
NO_FIELDS = "its metadata block holds no `key: value` lines"
SECOND_BLOCK = "a second metadata block follows, and only the first one counts; it begins on line"

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF16_FENCES = (b"-\0-\0-\0", b"\0-\0-\0-")
_MERGE_MARKER = re.compile(rb"^(?:<{7}|>{7})(?: |\r?$)", re.MULTILINE)
_BLANK_THEN_FENCE = re.compile(r"\s*\n---[ \t]*\r?\n")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_CODE_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# A whole value in braces, a word of Obsidian's template plug-ins anywhere, or a Templater command.
_TEMPLATE = re.compile(
    r"\s*\{\{[^{}]*\}\}\s*\Z"
    r"|.*?\{\{\s*(?:title|date|time|yesterday|tomorrow|id|uuid|name)\b[^{}]*\}\}"
    r"|.*?<%[-_*+]?\s*tp\.",
    re.DOTALL,
)
_TAG_KEYS = frozenset({"tags", "tag"})
_MEMORY_KEYS = frozenset({"id", "name", "description", "tags", "status"})


@dataclass(frozen=True, slots=True)
class Note(WithMetadata):
    """One note as read from its file, and what is wrong with it."""

    path: str  # relative to the memory root, '/' between the parts
    digest: str  # hex of blake2b-128 of the file's bytes; "" when they could not be read
    body: str  # everything after the block as it is in the file; the first MiB when `too_large`
    body_line: int  # line of the file on which the body begins, from 1
    problems: tuple[Problem, ...]  # facts of this file alone: no conflict_id, no sync_conflict_copy
    is_known: bool  # False: could not be read, or is half written; what was known about it stands


def parse_note(path: str, data: bytes) -> Note:
    """Read a note from the bytes of its file. Never raises, whatever the bytes are."""
    digest = digest_of(data)
    if problem := encoding_problem(data):
        return _wrong(path, digest, problem, is_known=False)
    if not data.removeprefix(BOM).strip():
        return _wrong(path, digest, Problem(Code.EMPTY_FILE))
    block = find_block(data)
    if block is None:
        return _without_block(path, digest, data)
    if not block.is_closed:
        return _wrong(path, digest, Problem(Code.BAD_YAML, UNCLOSED_BLOCK, 1, 1), is_known=False)
    return _with_block(path, digest, data, block)


def unknown_note(path: str, code: Code, detail: str) -> Note:
    """Return the note for a file whose bytes could not be had; its digest is empty."""
    return _wrong(path, "", Problem(code, detail), is_known=False)


def digest_of(data: bytes) -> str:
    """Return the digest of a file's bytes: hex of blake2b with 128 bits."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


# --- the file as a whole


def encoding_problem(data: bytes) -> Problem | None:
    """Return why bytes are no UTF-8 text, with the first wrong byte and its line; None when they are."""
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
    path: str, digest: str, problem: Problem, *, body: str = "", line: int = 1, is_known: bool = True
) -> Note:
    """Return the note for a file that says nothing usable about itself."""
    metadata = Metadata(name=_first_heading(body) or _stem(path))
    return Note(metadata, path, digest, body, line, (problem,), is_known)


def _without_block(path: str, digest: str, data: bytes) -> Note:
    body, too_large = _body(data, len(BOM) if data.startswith(BOM) else 0)
    if _MERGE_MARKER.match(data.removeprefix(BOM)):
        problem = Problem(
            Code.MERGE_CONFLICT, "the file begins with the markers of an unfinished merge", 1, 1
        )
    elif _BLANK_THEN_FENCE.match(body):
        problem = Problem(Code.MISSING_ID, NOT_ON_LINE_1)
    else:
        problem = Problem(Code.MISSING_ID)
    return _add(_wrong(path, digest, problem, body=body), too_large)


def _with_block(path: str, digest: str, data: bytes, block: Block) -> Note:
    body, too_large = _body(data, block.body_start)
    line = data.count(b"\n", 0, block.body_start) + 1
    tree = _read_block(data, block)
    if isinstance(tree, Problem):
        note = _wrong(path, digest, tree, body=body, line=line)
    elif isinstance(tree, Fields):
        note = _interpret(path, digest, tree, body, line)
    else:
        detail = _second_block(body, line) or (
            NO_FIELDS if tree is not None else "its metadata block is empty"
        )
        problem = Problem(Code.MISSING_ID, detail)
        note = _wrong(path, digest, problem, body=body, line=line)
    return _add(note, too_large)


def _read_block(data: bytes, block: Block) -> Node | Problem | None:
    if block.end - block.start > BLOCK_LIMIT_BYTES:
        return Problem(Code.BAD_YAML, f"the block is longer than {BLOCK_LIMIT_BYTES // 1024} KiB", 1, 1)
    if marker := _MERGE_MARKER.search(data, block.start, block.end):
        line = data.count(b"\n", 0, marker.start()) + 1
        return Problem(Code.MERGE_CONFLICT, "the block holds the markers of an unfinished merge", line, 1)
    try:
        return read_tree(data[block.start : block.end].decode())
    except BlockError as error:
        return error.problem


def _body(data: bytes, start: int) -> tuple[str, Problem | None]:
    if len(data) - start <= BODY_LIMIT_BYTES:
        return data[start:].decode(), None
    first_mib = data[start : start + BODY_LIMIT_BYTES].decode(errors="ignore")
    return first_mib, Problem(Code.TOO_LARGE, f"{len(data) / BODY_LIMIT_BYTES:.1f} MiB")


def _add(note: Note, problem: Problem | None) -> Note:
    return note if problem is None else replace(note, problems=(*note.problems, problem))


def _second_block(body: str, body_line: int) -> str:
    line = second_block_line(body, body_line)
    return f"{SECOND_BLOCK} {line}" if line else ""


def second_block_line(body: str, body_line: int) -> int | None:
    """Return the line of a block that directly follows the note's own, if it looks like a memory's."""
    stripped = body.lstrip()
    if not stripped.startswith("---"):
        return None
    data = stripped.encode()
    block = find_block(data)
    tree = _read_block(data, block) if block and block.is_closed else None
    if isinstance(tree, Fields) and any(entry.key.text in _MEMORY_KEYS for entry in tree.entries):
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
            fence = mark if not fence else "" if mark.startswith(fence) else fence
        elif not fence and (heading := _HEADING.fullmatch(line.rstrip("\r"))) and heading.group(1):
            return _one_line(heading.group(1))
    return ""


# --- the fields


def _interpret(path: str, digest: str, tree: Fields, body: str, body_line: int) -> Note:
    problems: list[Problem] = []
    id_ = _read_id(tree, body, body_line, problems)
    # A note without an id is no memory: what a memory should have is not demanded of it.
    others: list[Problem] = []
    name = _read_name(tree, path, body, others)
    status = _read_status(tree, others)
    tags = _read_tags(tree, others)
    if not any(problem.code is Code.MISSING_ID for problem in problems):
        problems += others
    metadata = Metadata(
        id=id_,
        name=name,
        description=_one_line(_text(tree, "description") or ""),
        tags=tags,
        status=status,
        created_at=_text(tree, "created_at"),
        updated_at=_text(tree, "updated_at"),
    )
    return Note(metadata, path, digest, body, body_line, (*problems, *_placeholders(tree)), is_known=True)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _is_blank(value: Resolved | None) -> bool:
    return value is None or (isinstance(value, Scalar) and (value.is_null or not value.text.strip()))


def _text(tree: Fields, key: str) -> str | None:
    """Return the text of a scalar field; None when it is missing, null, blank or no scalar."""
    value = tree.find(key)
    return value.text.strip() if isinstance(value, Scalar) and not _is_blank(value) else None


def _read_id(tree: Fields, body: str, body_line: int, problems: list[Problem]) -> str | None:
    value = tree.find("id")
    if value is None:
        problems.append(Problem(Code.MISSING_ID, _second_block(body, body_line)))
        return None
    if _is_blank(value):
        problems.append(Problem(Code.MISSING_ID, "its `id:` is empty", value.line, value.column))
        return None
    id_ = value.text.strip() if isinstance(value, Scalar) else ""
    if fault := _id_fault(id_):
        problems.append(Problem(Code.INVALID_ID, fault, value.line, value.column))
        return None
    return id_


def _id_fault(id_: str) -> str:
    if not id_:
        return "it is a list or a mapping"
    if len(id_) > ID_LIMIT_CHARS:
        return f"it has {len(id_)} characters, and {ID_LIMIT_CHARS} are allowed"
    kinds = {unicodedata.category(character) for character in id_ if character not in JOINERS}
    if kinds & {"Cc", "Zl", "Zp"}:
        return "it holds a line break or another control character"
    if "Cf" in kinds:
        return "it holds a character that cannot be seen, such as a zero-width space or a change of direction"
    if not any(kind[0] in "LNPS" for kind in kinds):
        return "it holds no character that can be seen"
    return ""


def _read_name(tree: Fields, path: str, body: str, problems: list[Problem]) -> str:
    if name := _one_line(_text(tree, "name") or ""):
        return name
    heading = _first_heading(body)
    problems.append(Problem(Code.MISSING_NAME, "its first heading" if heading else "its file name"))
    return heading or _stem(path)


def _read_status(tree: Fields, problems: list[Problem]) -> Status:
    value = tree.find("status")
    if value is None or _is_blank(value):
        problems.append(Problem(Code.MISSING_STATUS))
        return Status.ACTIVE
    word = _one_line(value.text) if isinstance(value, Scalar) else "a list or a mapping"
    if isinstance(value, Scalar) and word.casefold() in (Status.ACTIVE, Status.DEPRECATED):
        return Status(word.casefold())
    problems.append(Problem(Code.INVALID_STATUS, word, value.line, value.column))
    return Status.INVALID


def tag_field(tree: Fields) -> tuple[str, Resolved | None]:
    """Return the key under which a note keeps its tags and their value: `tags`, else a `tag` with one."""
    tags, tag = tree.find("tags"), tree.find("tag")
    return ("tag", tag) if _is_blank(tags) and not _is_blank(tag) else ("tags", tags)


def _read_tags(tree: Fields, problems: list[Problem]) -> tuple[str, ...]:
    key, value = tag_field(tree)
    tags = []
    for text, item in _tag_items(value):
        if tag := normalise_tag(text or ""):
            tags.append(tag)
        elif text is None or text.strip():
            detail = "it is a list or a mapping" if text is None else _one_line(text)
            problems.append(Problem(Code.TAG_INVALID, detail, item.line, item.column))
    other = tree.entry("tag") if key == "tags" else None
    if other is not None and not _is_blank(resolve(other.value)):
        detail = "`tag:` is not read where there is `tags:`"
        problems.append(Problem(Code.TAG_INVALID, detail, other.key.line, other.key.column))
    for each in (entry.key for entry in tree.entries if entry.key.text not in _TAG_KEYS):
        if each.text.casefold() in _TAG_KEYS:
            detail = f"`{each.text}:` is not read; write it as `tags:`"
            problems.append(Problem(Code.TAG_INVALID, detail, each.line, each.column))
    return tuple(dict.fromkeys(tags))


def _tag_items(value: Resolved | None) -> Iterator[tuple[str | None, Resolved]]:
    """Yield the text of each written tag, None for one that is no text, with the node that holds it."""
    if isinstance(value, Listing):
        for item in map(resolve, value.items):
            if not _is_blank(item):
                yield item.text if isinstance(item, Scalar) else None, item
    elif isinstance(value, Scalar) and not value.is_null:
        for text in split_tag_text(value.text):
            yield text, value
    elif isinstance(value, Fields):
        yield None, value


def _placeholders(tree: Fields) -> Iterator[Problem]:
    """Find fields that still hold a template's placeholder, such as `{{title}}` or `<% tp.date.now() %>`."""
    for entry in tree.entries:
        found = next((text for text in _texts(entry) if _TEMPLATE.match(text.text)), None)
        if found is not None:
            detail = f"{entry.key.text}: {_one_line(found.text)}"
            yield Problem(Code.TEMPLATE_PLACEHOLDER, detail, found.line, found.column)


def _texts(entry: Entry) -> Iterator[Scalar]:
    value = resolve(entry.value)
    for item in value.items if isinstance(value, Listing) else (value,):
        if isinstance(item, Scalar):
            yield item
