"""Entries of a metadata block as text: where a value ends, and how one is replaced or a new one put in.

Everything here is text → text on the block without its fences; places are character offsets.
"""

from __future__ import annotations

import dataclasses
import re

from vaultmem.errors import EditRefusedError
from vaultmem.notes.metadata import Metadata
from vaultmem.notes.tree import Entry, Fields, Listing, Node, Scalar

FIELD_ORDER = tuple(field.name for field in dataclasses.fields(Metadata))

_COLON = re.compile(r"[ \t]*:")


def after_colon(text: str, key: Scalar) -> int:
    """Return the place behind the colon of a key. Raises EditRefusedError for YAML's `? key` form."""
    colon = _COLON.match(text, key.end)
    if colon is None:
        raise unusual_form(key)
    return colon.end()


def unusual_form(node: Node) -> EditRefusedError:
    """Return the refusal for YAML that is valid, but in a form that nobody writes by hand."""
    return EditRefusedError(f"line {node.line} is written in a form of YAML that cannot be edited safely")


def last_part(node: Node) -> Node:
    """Return the last value inside a block collection, itself for anything else."""
    while isinstance(node, Listing | Fields) and not node.is_flow:
        node = node.items[-1] if isinstance(node, Listing) else node.entries[-1].value
    return node


def content_end(text: str, node: Node) -> int:
    """Return the place behind a value's last character, before comments and blank lines that follow it."""
    last = last_part(node)
    if isinstance(last, Scalar) and last.is_block:
        return last.start + len(text[last.start : last.end].rstrip())
    return last.end


def line_after(text: str, node: Node) -> int:
    """Return the beginning of the line behind a value; the blank lines below a `|` text are its own."""
    last = last_part(node)
    if isinstance(last, Scalar) and last.is_block:
        return last.end
    return text.find("\n", last.end) + 1 or len(text)


def line_start(text: str, place: int) -> int:
    """Return the beginning of the line that holds a place."""
    return text.rfind("\n", 0, place) + 1


def indent_of(text: str, node: Node) -> str:
    """Return the blanks before a value that begins its line. Raises EditRefusedError when it does not."""
    indent = text[line_start(text, node.start) : node.start]
    if indent.strip():
        raise unusual_form(node)
    return indent


def replace_value(text: str, entry: Entry, new: str) -> str:
    """Put a one-line value in the place of an entry's value, whatever form that has."""
    value, colon = entry.value, after_colon(text, entry.key)
    end = content_end(text, value)
    if value.start == end:  # nothing there: right behind the colon, before a comment
        return f"{text[:colon]} {new}{text[colon:]}"
    if "\n" in text[colon : value.start]:  # it begins on a line below
        return f"{text[:colon]} {new}{text[end:]}"
    return text[: value.start] + new + text[end:]


def insert_entry(text: str, fields: Fields | None, key: str, value: str, eol: str) -> str:
    """Put in `key:` + `value` at its usual place; `value` begins with a blank or a line end.

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
