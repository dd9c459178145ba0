"""Bytes → bytes: edits of a note in which only the asked-for entries change.

The entry is found by the places that the YAML parser reports and its text is spliced; nothing is loaded and dumped,
so comments, quotes, order, line ends, a byte-order mark and blanks stay. Each result is proven before it is
returned (`vaultmem.proof`), and an edit that cannot be proven is refused with its reason: EditRefusedError.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping as Fields
from collections.abc import Sequence
from dataclasses import dataclass

from vaultmem.entries import FIELD_ORDER, insert_entry, replace_value
from vaultmem.errors import EditRefusedError
from vaultmem.metadata import BOM, BlockError, Mapping, Scalar, find_block, read_tree, resolve
from vaultmem.notes import Code, Status, normalise_tags, parse_note
from vaultmem.proof import demand_texts, prove_edit, prove_fields, second_reading
from vaultmem.scalars import write_scalar, write_time
from vaultmem.tag_edits import new_list, write_tags

Value = str | Sequence[str]

_TIMES = ("created_at", "updated_at")
_UNEDITABLE = frozenset({Code.BAD_YAML, Code.DUPLICATE_KEY, Code.MERGE_CONFLICT, Code.BAD_ENCODING})


def set_tags(data: bytes, tags: Sequence[str]) -> bytes:
    """Give a note exactly these tags (normalised). Items that stay keep the spelling they have in the file."""
    return set_fields(data, {"tags": tags})


def set_status(data: bytes, status: Status) -> bytes:
    """Give a note a status, `active` or `deprecated`."""
    if status is Status.INVALID:
        raise EditRefusedError("`invalid` is not a status that can be set")
    return set_fields(data, {"status": status.value})


def set_id(data: bytes, id: str) -> bytes:  # noqa: A002 - the field's name
    """Give a note an id. A note without a metadata block gets one, above everything it holds."""
    if find_block(data) is None:
        return _with_new_block(data, id)
    return set_fields(data, {"id": id})


def set_fields(data: bytes, fields: Fields[str, Value], body: str | None = None) -> bytes:
    """Set several fields, and the body where one is given, with one proof for all.

    A body takes the note's line ends, keeps the blank lines that stood above the old one, and loses a leading
    copy of the note's own metadata block. Values that are already there leave the bytes as they are.
    """
    source = _Source.of(data)
    asked = {key: _tidy(key, value) for key, value in fields.items()}
    text = source.text
    for key, value in asked.items():
        text = _set_field(text, key, value, source.eol)
    new_body = source.body if body is None else source.body_from(body)
    after = source.opening + _encode(text) + source.closing + new_body
    if after != data:
        prove_edit(data, after, asked, None if body is None else new_body)
    return after


def compose_note(fields: Fields[str, Value], body: str) -> bytes:
    """Write a new note: the fields in their usual order, a blank line, the body."""
    asked = {key: _tidy(key, value) for key, value in fields.items()}
    order = [key for key in FIELD_ORDER if key in asked] + [key for key in asked if key not in FIELD_ORDER]
    lines = "".join(f"{write_scalar(key)}:{_new_value(key, asked[key], chr(10))}\n" for key in order)
    text = without_own_block(body)
    gap = "" if text.startswith(("\n", "\r\n")) or not text else "\n"
    end = "" if text.endswith("\n") or not text else "\n"
    data = _encode(f"---\n{lines}---\n{gap}{text}{end}")
    prove_fields(data, asked)
    if reading := second_reading(data):
        demand_texts(reading[0], asked)
    return data


def without_own_block(body: str) -> str:
    """Drop a metadata block at the head of a body: what an agent got from `open` and sends back whole."""
    data = _encode(body)
    block = find_block(data)
    if block is None or not block.is_closed:
        return body
    try:
        tree = read_tree(data[block.start : block.end].decode())
    except BlockError:
        return body
    is_own = isinstance(tree, Mapping) and (
        tree.entry("id") or (tree.entry("name") and tree.entry("description"))
    )
    return data[block.body_start :].decode() if is_own else body


def diff(before: bytes, after: bytes, path: str) -> str:
    """Return the change as a unified diff; "" when there is none. Line ends are not shown."""
    old, new = (data.decode("utf-8", "replace").split("\n") for data in (before, after))
    lines = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", lineterm="")
    return "".join(line.rstrip("\r") + "\n" for line in lines)


@dataclass(frozen=True, slots=True)
class _Source:
    """A note taken apart for an edit."""

    opening: bytes
    text: str
    closing: bytes
    body: bytes
    eol: str

    @classmethod
    def of(cls, data: bytes) -> _Source:
        """Take a note apart. Raises EditRefusedError for one that cannot be read for sure."""
        for problem in parse_note("note.md", data).problems:
            if problem.code in _UNEDITABLE:
                where = f" (line {problem.line})" if problem.line else ""
                raise EditRefusedError(
                    f"the note cannot be edited: {problem.detail}{where}", advice="mend the file first"
                )
        block = find_block(data)
        if block is None:
            raise EditRefusedError(
                "the note cannot be edited: it has no metadata block", advice="adopt it first"
            )
        opening = data[: block.start]
        eol = "\r\n" if opening.endswith(b"\r\n") else "\n"
        text = data[block.start : block.end].decode()
        return cls(opening, text, data[block.end : block.body_start], data[block.body_start :], eol)

    def body_from(self, body: str) -> bytes:
        text = without_own_block(body)
        old = self.body.decode()
        blank = re.match(r"(?:[ \t]*\r?\n)*", old)
        if blank and not re.match(r"[ \t]*\r?\n", text):
            text = blank.group() + text
        if text and not text.endswith("\n"):
            text += "\n"
        return _encode(re.sub(r"\r?\n", lambda _: self.eol, text))


def _set_field(text: str, key: str, value: Value, eol: str) -> str:
    tree = read_tree(text)
    if tree is not None and not isinstance(tree, Mapping):
        raise EditRefusedError("the note cannot be edited: its metadata block holds no `key: value` lines")
    if isinstance(tree, Mapping) and tree.is_flow:
        raise EditRefusedError("the note cannot be edited: its metadata block is one {…} mapping")
    if key == "tags":
        return write_tags(text, tree, list(value), eol)
    entry = tree.entry(key) if tree is not None else None
    if entry is None:
        return insert_entry(text, tree, key, _new_value(key, value, eol), eol)
    if not isinstance(value, str):
        raise EditRefusedError(f"`{key}` is already there and is not a field that holds tags")
    written = resolve(entry.value)
    if isinstance(written, Scalar) and written.text == value and not (written.is_null and value):
        return text
    style = written.style if isinstance(written, Scalar) else ""
    return replace_value(text, entry, _scalar(key, value, style))


def _tidy(key: str, value: Value) -> Value:
    if key != "tags":
        return value
    wanted = [value] if isinstance(value, str) else list(value)
    tags = normalise_tags(wanted)
    if wanted and not tags:
        raise EditRefusedError(
            f"{', '.join(map(repr, wanted))}: not a valid tag", advice="use letters, digits, / - _"
        )
    return tags


def _new_value(key: str, value: Value, eol: str) -> str:
    return f" {_scalar(key, value)}" if isinstance(value, str) else new_list(value, eol)


def _scalar(key: str, value: str, style: str = "") -> str:
    return write_time(value) if key in _TIMES and not style else write_scalar(value, style=style)


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise EditRefusedError(f"the text holds half a character (U+{ord(text[error.start]):04X})") from None


def _with_new_block(data: bytes, id_: str) -> bytes:
    note = parse_note("note.md", data)
    for problem in note.problems:
        if problem.code in _UNEDITABLE or problem.detail.startswith("a blank line"):
            raise EditRefusedError(
                f"the note cannot be edited: {problem.detail}", advice="mend the file first"
            )
    mark = BOM if data.startswith(BOM) else b""
    rest = data[len(mark) :]
    eol = "\r\n" if rest[: rest.find(b"\n") + 1].endswith(b"\r\n") else "\n"
    after = mark + _encode(f"---{eol}id: {write_scalar(id_)}{eol}---{eol}") + rest
    block = find_block(after)
    if block is None or after[block.body_start :] != rest:
        raise EditRefusedError("this edit cannot be proven harmless: the text would not be kept as the body")
    prove_fields(after, {"id": id_})
    return after
