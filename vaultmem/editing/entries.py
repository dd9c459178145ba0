"""Entries of a metadata block as text: a value as YAML writes it, where one ends, how one is replaced or put in.

Everything here is text → text on the block without its fences; places are character offsets. Readers differ in what
they guess about an unquoted word: `no`, `0123`, `12:30` and `1_000` are not text to all of them. A text is written
without quotes only when YAML 1.1 and 1.2 both read it as it stands; otherwise it is quoted, on one line, with escapes
for whatever a reader might fold, strip or refuse.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import TypeAlias

from vaultmem.errors import EditRefusedError
from vaultmem.notes.metadata import Metadata
from vaultmem.notes.tree import Entry, Fields, Listing, Node, Scalar

Value: TypeAlias = str | Sequence[str]
"""What a field is asked to hold: a text, or a list of texts."""

FIELD_ORDER = tuple(field.name for field in dataclasses.fields(Metadata))
TIME_FIELDS = ("created_at", "updated_at")
"""Written without quotes, as editors write them; some readers make dates of them."""

_COLON = re.compile(r"[ \t]*:")
_GUESSED_WORDS = frozenset({"~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "=", "<<"})
_NUMBER_LIKE = re.compile(r"[-+.]?[0-9][0-9a-fA-FxXoObB_.,:eE+\-TtZz ]*|[-+]?\.(?:inf|nan)", re.IGNORECASE)
_TIMESTAMP = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?Z| ?[-+]\d\d(?::?\d\d)?)?)?"
)
_NEVER_FIRST = frozenset("-?:,[]{}#&*!|>'\"%@`=<~")
_NEVER_IN_FLOW = frozenset(",[]{}:?")
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


# --- a value as it is written


def write_scalar(text: str, *, style: str = "", in_flow: bool = False) -> str:
    """A text as a scalar, unquoted where that is safe for every reader.

    `style` is the quote of the old value, which the new one keeps where it can. `in_flow` is for items between
    brackets, where more characters have a meaning.
    """
    if style not in ("'", '"') and _is_plain(text, in_flow):
        return text
    is_single_possible = not _UNSAFE.search(text)
    if style == "'" and is_single_possible:
        return _single(text)
    if style != '"' and is_single_possible and ('"' in text or "\\" in text):
        return _single(text)
    return _double(text)


def write_time(text: str) -> str:
    """A point in time: ISO 8601 stays unquoted, as editors write it, though some make a date of it."""
    return text if _TIMESTAMP.fullmatch(text) else write_scalar(text)


def _is_plain(text: str, in_flow: bool) -> bool:
    if not text or text != text.strip() or text[0] in _NEVER_FIRST or _UNSAFE.search(text):
        return False
    if text.lower() in _GUESSED_WORDS or _NUMBER_LIKE.fullmatch(text):
        return False
    if in_flow and _NEVER_IN_FLOW & set(text):
        return False
    if text.startswith(("...", "---")) or "{{" in text:
        return False
    return ": " not in text and " #" not in text and not text.endswith(":")


def _single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _double(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(c) or (_escape(c) if _UNSAFE.match(c) else c) for c in text) + '"'


def _escape(character: str) -> str:
    point = ord(character)
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}"


# --- places


def after_colon(text: str, key: Scalar) -> int:
    """The place behind the colon of a key. Raises EditRefusedError for YAML's `? key` form."""
    colon = _COLON.match(text, key.end)
    if colon is None:
        raise unusual_form(key)
    return colon.end()


def unusual_form(node: Node) -> EditRefusedError:
    """The refusal for YAML that is valid, but in a form that nobody writes by hand."""
    return EditRefusedError(f"line {node.line} is written in a form of YAML that cannot be edited safely")


def last_part(node: Node) -> Node:
    """The last value inside a block collection, itself for anything else."""
    while isinstance(node, Listing | Fields) and not node.is_flow:
        node = node.items[-1] if isinstance(node, Listing) else node.entries[-1].value
    return node


def content_end(text: str, node: Node) -> int:
    """The place behind a value's last character, before comments and blank lines that follow it."""
    last = last_part(node)
    if isinstance(last, Scalar) and last.is_block:
        return last.start + len(text[last.start : last.end].rstrip())
    return last.end


def line_after(text: str, node: Node) -> int:
    """The beginning of the line behind a value; the blank lines below a `|` text are its own."""
    last = last_part(node)
    if isinstance(last, Scalar) and last.is_block:
        return last.end
    return text.find("\n", last.end) + 1 or len(text)


def line_start(text: str, place: int) -> int:
    """The beginning of the line that holds a place."""
    return text.rfind("\n", 0, place) + 1


def indent_of(text: str, node: Node) -> str:
    """The blanks before a value that begins its line. Raises EditRefusedError when it does not."""
    indent = text[line_start(text, node.start) : node.start]
    if indent.strip():
        raise unusual_form(node)
    return indent


# --- an entry replaced, or put in


def replace_value(text: str, entry: Entry, new: str) -> str:
    """The text with a one-line value in the place of an entry's, whatever form that has."""
    value, colon = entry.value, after_colon(text, entry.key)
    end = content_end(text, value)
    if value.start == end:  # nothing there: right behind the colon, before a comment
        return f"{text[:colon]} {new}{text[colon:]}"
    if "\n" in text[colon : value.start]:  # it begins on a line below
        return f"{text[:colon]} {new}{text[end:]}"
    return text[: value.start] + new + text[end:]


def insert_entry(text: str, fields: Fields | None, key: str, value: str, eol: str) -> str:
    """The text with `key:` + `value` at its usual place; `value` begins with a blank or a line end.

    Raises EditRefusedError where the key is there in other letters: to Obsidian the two are one.
    """
    if twin := fields and next(
        (entry.key for entry in fields.entries if _is_twin(entry.key.text, key)), None
    ):
        raise EditRefusedError(
            f"line {twin.line} has `{twin.text}:`, which is not read and would stand beside `{key}:`",
            advice=f"Write `{key}:` there, in these letters.",
        )
    if fields is None or not fields.entries:
        return f"{text}{key}:{value}{eol}"
    indent = indent_of(text, fields.entries[0].key)
    place = _insertion_place(text, fields, key)
    entry = indent + f"{key}:{value}".replace(eol, eol + indent) + eol
    return text[:place] + entry + text[place:]


def _is_twin(written: str, key: str) -> bool:
    return written != key and written.casefold() in ((key, "tag") if key == "tags" else (key,))


def _insertion_place(text: str, fields: Fields, key: str) -> int:
    """Behind the nearest field that usually stands before it, else before the nearest of those behind it."""
    if key == FIELD_ORDER[0]:
        return line_start(text, fields.entries[0].key.start)
    position = FIELD_ORDER.index(key) if key in FIELD_ORDER else len(FIELD_ORDER)
    for name in reversed(FIELD_ORDER[:position]):
        if entry := fields.entry(name):
            return line_after(text, entry.value)
    for name in FIELD_ORDER[position + 1 :]:
        if entry := fields.entry(name):
            return line_start(text, entry.key.start)
    return line_after(text, fields.entries[-1].value)
