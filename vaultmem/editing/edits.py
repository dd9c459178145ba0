"""Bytes → bytes: edits of a note in which only the asked-for entries change.

The entry is found by the places that the YAML parser reports, and its text is spliced; nothing is loaded and
dumped, so comments, quotes, order, line ends, a byte-order mark and blanks stay. Each result is proven before
it is returned (`vaultmem.editing.proof`); an edit that cannot be proven is refused with its reason: EditRefusedError.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vaultmem.editing.entries import (
    FIELD_ORDER,
    TIME_FIELDS,
    Value,
    insert_entry,
    replace_value,
    write_scalar,
    write_time,
)
from vaultmem.editing.proof import prove_edit, prove_new, prove_values
from vaultmem.editing.tag_edits import new_list, write_tags
from vaultmem.errors import EditRefusedError
from vaultmem.notes.block import (
    BOM,
    NOT_ON_LINE_1,
    BlockError,
    find_block,
    read_tree,
    second_block_line,
    uncounted_block,
)
from vaultmem.notes.metadata import Status
from vaultmem.notes.parse import Note, parse_note
from vaultmem.notes.problems import obstacle
from vaultmem.notes.tags import TAG_FORM, normalise_tags
from vaultmem.notes.tree import Fields, Scalar, resolve
from vaultmem.text.shown import quoted

_ABOVE_A_BLOCK = "\ufeff \t\r\n"
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)*")


def set_tags(data: bytes, tags: Sequence[str]) -> bytes:
    """Give a note exactly these tags (normalised). Items that stay keep the spelling that they have."""
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
    note = _editable(data)
    if note.id is None and (line := second_block_line(note.body, note.body_line)):
        reason = f"the note cannot be edited: a second metadata block follows on line {line}"
        raise EditRefusedError(reason, advice="Make one block of the two.")
    return set_fields(data, {"id": id})


def set_fields(data: bytes, fields: Mapping[str, Value], body: str | None = None) -> bytes:
    """Set several fields, and the body where one is given, with one proof for all.

    A body takes the note's line ends and keeps the blank lines that stood above the old one. Values that are
    already there leave the bytes as they are.
    """
    _editable(data)
    source = _Source.of(data)
    asked = {key: _checked(key, value) for key, value in fields.items()}
    text = source.text
    for key, value in asked.items():
        text = _set_field(text, key, value, source.eol)
    new_body = source.body if body is None else source.body_from(body)
    closing = source.closing
    if new_body and not closing.endswith(b"\n"):
        closing += source.eol.encode()
    after = source.opening + text.encode() + closing + new_body
    if after != data:
        prove_edit(data, after, asked, None if body is None else new_body)
    return after


def compose_note(fields: Mapping[str, Value], body: str) -> bytes:
    """Write a new note: the fields in their usual order, a blank line, the body."""
    asked = {key: _checked(key, value) for key, value in fields.items()}
    order = sorted(asked, key=lambda key: FIELD_ORDER.index(key) if key in FIELD_ORDER else len(FIELD_ORDER))
    text = "".join(f"{write_scalar(key)}:{_new_value(key, asked[key], chr(10))}\n" for key in order)
    gap = "\n" if body and not _blank_lines_above(body) else ""
    end = "\n" if body and not body.endswith("\n") else ""
    data = f"---\n{text}---\n".encode() + _encode(gap + body + end)
    prove_values(data, asked)
    prove_new(text, asked)
    return data


def without_own_block(body: str, own_id: str) -> str:
    """Drop the note's own metadata block at the head of a body: a client got it from `open` and sends it back.

    It is known by its id. Any other block, that of another note or of a file of another kind, is text and stays.
    """
    data = _encode(body.lstrip(_ABOVE_A_BLOCK))
    block = find_block(data)
    if block is None or not block.is_closed:
        return body
    try:
        tree = read_tree(data[block.start : block.end].decode())
    except BlockError:
        return body
    written = tree.find("id") if isinstance(tree, Fields) else None
    is_own = isinstance(written, Scalar) and written.text.strip() == own_id
    return data[block.body_start :].decode() if is_own else body


def diff(before: bytes, after: bytes, path: str) -> str:
    """The change as a unified diff; "" when there is none. Line ends are not shown, each header is one line."""
    names = quoted(f"a/{path}"), quoted(f"b/{path}")
    lines = difflib.unified_diff(_lines(before), _lines(after), *names, lineterm="")
    return "".join(line.rstrip("\r") + "\n" for line in lines)


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").removesuffix("\n").split("\n") if data else []


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
        block = find_block(data)
        if block is None:
            raise EditRefusedError(
                "the note cannot be edited: it has no metadata block", advice="Adopt it first."
            )
        opening = data[: block.start]
        return cls(
            opening=opening,
            text=data[block.start : block.end].decode(),
            closing=data[block.end : block.body_start],
            body=data[block.body_start :],
            eol="\r\n" if opening.endswith(b"\r\n") else "\n",
        )

    def body_from(self, text: str) -> bytes:
        """A new body in the manner of the old one."""
        old = self.body.decode()
        if text and not _blank_lines_above(text):
            text = (_blank_lines_above(old) if old.strip() else "\n") + text
        if text and not text.endswith("\n"):
            text += "\n"
        return _encode(re.sub(r"\r?\n", lambda _: self.eol, text))


def _blank_lines_above(text: str) -> str:
    found = _BLANK_LINES.match(text)
    return found.group() if found else ""


def demand_editable(note: Note, called: str) -> None:
    """Refuse a note that may not be edited. Raises EditRefusedError."""
    if problem := obstacle(note.problems):
        where = f", line {problem.line}" if problem.line else ""
        raise EditRefusedError(
            f"{called} cannot be edited: {problem.code.value}{where}: {problem.detail}",
            advice="Mend the note in an editor first.",
        )


def _editable(data: bytes) -> Note:
    note = parse_note("note.md", data)
    demand_editable(note, "the note")
    return note


def _set_field(text: str, key: str, value: Value, eol: str) -> str:
    fields = _read_fields(text)
    if key == "tags":
        return write_tags(text, fields, list(value), eol)
    entry = fields.entry(key) if fields is not None else None
    if entry is None:
        return insert_entry(text, fields, key, _new_value(key, value, eol), eol)
    if not isinstance(value, str):
        raise EditRefusedError(f"`{key}` is already there, and only tags can be replaced as a list")
    written = resolve(entry.value)
    if isinstance(written, Scalar) and written.text == value and (not written.is_null or not value):
        return text
    style = written.style if isinstance(written, Scalar) else ""
    return replace_value(text, entry, _scalar(key, value, style))


def _read_fields(text: str) -> Fields | None:
    try:
        tree = read_tree(text)
    except BlockError as error:  # an edit before this one cut off an anchor
        raise EditRefusedError(f"this edit cannot be proven harmless: {error.problem.detail}") from None
    if tree is not None and not isinstance(tree, Fields):
        raise EditRefusedError("the note cannot be edited: its block holds no `key: value` lines")
    if tree is not None and tree.is_flow:
        raise EditRefusedError("the note cannot be edited: its block is one {…} mapping")
    return tree


def _checked(key: str, value: Value) -> Value:
    """The value as it is to be read back. Raises EditRefusedError when it cannot be."""
    for text in (value,) if isinstance(value, str) else value:
        _encode(text)
    if key != "tags":
        return value
    given = [value] if isinstance(value, str) else list(value)
    tags = normalise_tags(given)
    if given and not tags:
        raise EditRefusedError(f"{', '.join(map(repr, given))}: no valid tag", advice=TAG_FORM)
    return tags


def _new_value(key: str, value: Value, eol: str) -> str:
    return f" {_scalar(key, value)}" if isinstance(value, str) else new_list(value, eol)


def _scalar(key: str, value: str, style: str = "") -> str:
    return write_time(value) if key in TIME_FIELDS and not style else write_scalar(value, style=style)


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        character = f"U+{ord(text[error.start]):04X}"
        raise EditRefusedError(
            f"the text holds a lone surrogate, half of a UTF-16 pair ({character})"
        ) from None


def _with_new_block(data: bytes, id_: str) -> bytes:
    note = _editable(data)
    if reason := uncounted_block(note.body):
        advice = "Delete the lines above it." if reason == NOT_ON_LINE_1 else "Write both lines as `---`."
        raise EditRefusedError(f"the note cannot be edited: {reason}", advice=advice)
    mark = BOM if data.startswith(BOM) else b""
    rest = data[len(mark) :]
    eol = "\r\n" if rest.partition(b"\n")[0].endswith(b"\r") else "\n"
    after = mark + f"---{eol}id: {write_scalar(id_)}{eol}---{eol}".encode() + rest
    block = find_block(after)
    if block is None or after[block.body_start :] != rest:
        raise EditRefusedError("this edit cannot be proven harmless: the text would not be kept as the body")
    prove_values(after, {"id": id_})
    return after
