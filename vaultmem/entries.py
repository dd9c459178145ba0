"""Entries of a metadata block as text: where a value ends, and how one is replaced or a new one put in.

Everything here is text → text on the block without its fences; places are character offsets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from vaultmem.errors import EditRefusedError
from vaultmem.metadata import Alias, Entry, Listing, Mapping, Node, Scalar

FIELD_ORDER = ("id", "name", "description", "tags", "status", "created_at", "updated_at")

_COLON = re.compile(r"[ \t]*:")


def after_colon(text: str, key: Scalar) -> int:
    """Return the place behind the colon of a key. Raises EditRefusedError for YAML's `? key` form."""
    colon = _COLON.match(text, key.end)
    if colon is None:
        raise EditRefusedError(
            f"the key on line {key.line} is written in a form that cannot be edited safely"
        )
    return colon.end()


def content_end(text: str, node: Node) -> int:
    """Return the place behind the last character of a value; comments and blank lines that follow are not its own."""
    if isinstance(node, Listing) and not node.is_flow:
        return content_end(text, node.items[-1])
    if isinstance(node, Mapping) and not node.is_flow:
        return content_end(text, node.entries[-1].value)
    if is_block_scalar(node):
        return node.start + len(text[node.start : node.end].rstrip())
    return node.end


def is_block_scalar(node: Node) -> bool:
    """Tell whether a value is written as `|` or `>` with its text on the lines below."""
    return isinstance(node, Scalar) and node.style in ("|", ">")


def line_start(text: str, place: int) -> int:
    """Return the beginning of the line that holds a place."""
    return text.rfind("\n", 0, place) + 1


def line_after(text: str, node: Node) -> int:
    """Return the beginning of the line behind a value; the blank lines below a `|` text belong to that text."""
    if isinstance(node, Listing) and not node.is_flow:
        return line_after(text, node.items[-1])
    if isinstance(node, Mapping) and not node.is_flow:
        return line_after(text, node.entries[-1].value)
    if is_block_scalar(node):
        return node.end
    return text.find("\n", node.end) + 1 or len(text)


def replace_value(text: str, entry: Entry, new: str) -> str:
    """Put a one-line value in the place of an entry's value, whatever form that has."""
    value, colon = entry.value, after_colon(text, entry.key)
    end = content_end(text, value)
    if value.start == end:  # nothing there: right behind the colon, before a comment
        return f"{text[:colon]} {new}{text[colon:]}"
    if "\n" in text[colon : value.start]:
        return f"{text[:colon]} {new}{text[end:]}"
    return text[: value.start] + new + text[end:]


def insert_entry(text: str, tree: Mapping | None, key: str, value: str, eol: str) -> str:
    """Put in `key:` + `value` at its usual place among the fields. `value` begins with a blank or a line end."""
    if tree is None or not tree.entries:
        return f"{text}{key}:{value}{eol}"
    if tree.is_flow:
        raise EditRefusedError(
            f"the block on line {tree.line} is one {{…}} mapping; write one field per line"
        )
    first = tree.entries[0].key
    indent = text[line_start(text, first.start) : first.start]
    if indent.strip():
        raise EditRefusedError(
            f"the key on line {first.line} is written in a form that cannot be edited safely"
        )
    place = _insertion_place(text, tree, key)
    lines = f"{key}:{value}{eol}".replace(eol, eol + indent).removesuffix(indent)
    return text[:place] + indent + lines + text[place:]


def _insertion_place(text: str, tree: Mapping, key: str) -> int:
    """Behind the nearest field that usually stands before it, else before the nearest that stands behind it."""
    position = FIELD_ORDER.index(key) if key in FIELD_ORDER else len(FIELD_ORDER)
    for before in reversed(FIELD_ORDER[:position]):
        if entry := tree.entry(before):
            return line_after(text, entry.value)
    for behind in FIELD_ORDER[position + 1 :] if position else (tree.entries[0].key.text,):
        if entry := tree.entry(behind):
            return line_start(text, entry.key.start)
    return line_after(text, tree.entries[-1].value)


def aliases(node: Node | None) -> Iterator[Alias]:
    """Yield every alias that is written in a tree."""
    if isinstance(node, Alias):
        yield node
    elif isinstance(node, Listing):
        for item in node.items:
            yield from aliases(item)
    elif isinstance(node, Mapping):
        for entry in node.entries:
            yield from aliases(entry.value)


def leaves(node: Node | None) -> Iterator[Scalar | Alias]:
    """Yield every scalar and alias that is written in a tree, keys too, in the order of the text."""
    if isinstance(node, Scalar | Alias):
        yield node
    elif isinstance(node, Listing):
        for item in node.items:
            yield from leaves(item)
    elif isinstance(node, Mapping):
        for entry in node.entries:
            yield entry.key
            yield from leaves(entry.value)
