"""The tags entry, rewritten in the style it already has.

A text (`tags: a, b`) becomes a list and `tag:` becomes `tags:`, which are all that Obsidian reads from version 1.9 on.
Items that stay keep the text they were written with. Items that are no tags (a mapping, a null, a word of
which nothing can be kept) are not ours to drop. New items are written in normal form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vaultmem.editing.entries import (
    after_colon,
    content_end,
    indent_of,
    insert_entry,
    line_after,
    line_start,
    replace_value,
    unusual_form,
    write_scalar,
)
from vaultmem.errors import EditRefusedError
from vaultmem.notes.field_rules import tag_field
from vaultmem.notes.tags import normalise_tag, split_tag_text
from vaultmem.notes.tree import Alias, Entry, Fields, Listing, Node, Scalar, resolve

_COMMENT_LINES = re.compile(r"#[^\n]*\n")


def write_tags(text: str, fields: Fields | None, wanted: Sequence[str], eol: str) -> str:
    """The block's text with these tags, given in normal form. Raises EditRefusedError."""
    key = tag_field(fields)[0] if fields is not None else "tags"
    entry = fields.entry(key) if fields is not None else None
    if entry is None:
        return insert_entry(text, fields, "tags", new_list(wanted, eol), eol) if wanted else text
    written = entry.value
    if tuple(dict.fromkeys(piece.tag for piece in _pieces(text, written) if piece.tag)) == tuple(wanted):
        return text
    if isinstance(resolve(written), Fields):
        raise EditRefusedError(f"`{key}` on line {written.line} is a mapping, not a list of tags")
    text = _write_list(text, entry, wanted, eol)
    has_plural = fields is not None and fields.entry("tags") is not None
    return text if has_plural else text[: entry.key.start] + "tags" + text[entry.key.end :]


def _write_list(text: str, entry: Entry, wanted: Sequence[str], eol: str) -> str:
    written = entry.value
    if isinstance(written, Alias):
        return replace_value(text, entry, _flow(_pieces(text, written), wanted))
    if isinstance(written, Scalar) and written.is_null:
        return _fill(text, entry, written, wanted, eol)
    if isinstance(written, Scalar):
        return replace_value(text, entry, _flow(_pieces(text, written), wanted))
    if isinstance(written, Listing) and written.is_flow:
        return text[: written.start] + _flow_list(text, written, wanted) + text[written.end :]
    return _block_list(text, entry, wanted, eol)


def new_list(tags: Sequence[str], eol: str) -> str:
    """Write tags as what follows `tags:`, one item a line and indented by two."""
    return "".join(f"{eol}  - {write_scalar(tag)}" for tag in tags) if tags else " []"


@dataclass(frozen=True, slots=True)
class _Piece:
    """One written item: its normal form ("" for what is no tag) and its own text."""

    tag: str
    text: str


def _pieces(text: str, value: Node) -> list[_Piece]:
    """Take written tags apart; the texts are ready to stand between brackets."""
    value = resolve(value)
    if isinstance(value, Listing):
        return [_Piece(_tag_of(item), text[item.start : content_end(text, item)]) for item in value.items]
    return [_Piece(piece.tag, write_scalar(piece.text, in_flow=True)) for piece in _words(value)]


def _words(value: Node) -> list[_Piece]:
    if not isinstance(value, Scalar) or value.is_null:
        return []
    return [_Piece(normalise_tag(word), word.strip()) for word in split_tag_text(value.text) if word.strip()]


def _tag_of(item: Node) -> str:
    item = resolve(item)
    return normalise_tag(item.text) if isinstance(item, Scalar) and not item.is_null else ""


def _arrange(current: Sequence[str], wanted: Sequence[str]) -> list[int | str]:
    """Order the new list: numbers stand for items that stay, texts for new tags.

    Items stay where they are; a new tag stands before the next one in `wanted` that stays, or at the end.
    Only when the wanted order contradicts the written one are items moved.
    """
    kept = [index for index, tag in enumerate(current) if not tag or tag in wanted]
    order = list(dict.fromkeys(current[index] for index in kept if current[index]))
    if order != [tag for tag in wanted if tag in order]:
        rank = {tag: number for number, tag in enumerate(wanted)}
        kept.sort(key=lambda index: rank.get(current[index], len(wanted)))
    result: list[int | str] = []
    missing = [tag for tag in wanted if tag not in order]
    for index in kept:
        tag = current[index]
        if tag in wanted:
            due = [new for new in missing if wanted.index(new) < wanted.index(tag)]
            result += due
            missing = missing[len(due) :]
        result.append(index)
    return result + missing


# --- nothing yet


def _fill(text: str, entry: Entry, written: Scalar, wanted: Sequence[str], eol: str) -> str:
    """Put a list where there is `tags:` with nothing, or with a null word; a comment behind it stays."""
    colon = after_colon(text, entry.key)
    end = text.find("\n", written.end)
    end = len(text) if end < 0 else end
    behind = (text[colon : written.start] + text[written.end : end]).rstrip()
    rest = text[end - 1 :] if text[end - 1] == "\r" else text[end:]
    return text[:colon] + behind + new_list(wanted, eol + indent_of(text, entry.key)) + rest


# --- [flow, lists]


def _flow(pieces: Sequence[_Piece], wanted: Sequence[str]) -> str:
    """Write a new flow list in which items that stay keep their text."""
    arranged = _arrange([piece.tag for piece in pieces], wanted)
    items = (pieces[i].text if isinstance(i, int) else write_scalar(i, in_flow=True) for i in arranged)
    return f"[{', '.join(items)}]"


def _flow_list(text: str, listing: Listing, wanted: Sequence[str]) -> str:
    items = listing.items
    arranged = _arrange([_tag_of(item) for item in items], wanted)
    first, last = (items[0].start, items[-1].end) if items else (listing.end - 1, listing.end - 1)
    head, tail = text[listing.start : first], text[last : listing.end]
    if not arranged or not items:
        head, tail = head.rstrip(), "]"
    result = head
    left: int | str | None = None
    for right in arranged:
        if left is not None:
            result += _separator(text, items, left, right, head)
        if isinstance(right, int):
            result += text[items[right].start : items[right].end]
        else:
            result += write_scalar(right, in_flow=True)
        left = right
    return result + tail


def _separator(text: str, items: Sequence[Node], left: int | str, right: int | str, head: str) -> str:
    """Neighbours keep what stood between them; others get what stands between the first two."""
    if isinstance(left, int) and right == left + 1:
        return text[items[left].end : items[left + 1].start]
    if len(items) > 1:
        return text[items[0].end : items[1].start]
    return "," + head.rpartition("[")[2] if "\n" in head else ", "


# --- - block lists


@dataclass(frozen=True, slots=True)
class _Row:
    """One item of a block list with the lines it is written on, and the comment and blank lines above it."""

    tag: str
    leading: str
    lines: str
    indent: str
    comment: str  # behind the item on its line

    def left_behind(self, eol: str) -> str:
        """What stays of the row when its item goes: its comments."""
        leading = self.leading if "#" in self.leading else ""
        return leading + (f"{self.indent}{self.comment}{eol}" if self.comment else "")


def _rows(text: str, listing: Listing) -> list[_Row]:
    rows: list[_Row] = []
    place = -1
    for item in listing.items:
        dash = text.rfind("-", 0, item.start)
        start = line_start(text, dash)
        indent = text[start:dash]
        if indent.strip() or _COMMENT_LINES.sub("", text[dash + 1 : item.start]).strip():
            raise unusual_form(item)
        end = line_after(text, item)
        behind = text[content_end(text, item) : end].strip()
        leading = text[place:start] if rows else ""
        rows.append(
            _Row(_tag_of(item), leading, text[start:end], indent, behind if behind[:1] == "#" else "")
        )
        place = end
    return rows


def _block_list(text: str, entry: Entry, wanted: Sequence[str], eol: str) -> str:
    listing = entry.value
    assert isinstance(listing, Listing)
    rows = _rows(text, listing)
    arranged = _arrange([row.tag for row in rows], wanted)
    start, end = line_start(text, text.rfind("-", 0, listing.items[0].start)), line_after(text, listing)
    above = _comments_left(rows, arranged, eol)
    lines = [
        above[item] + rows[item].leading + rows[item].lines
        if isinstance(item, int)
        else f"{rows[0].indent}- {write_scalar(item)}{eol}"
        for item in arranged
    ]
    colon = after_colon(text, entry.key)
    head = text[:start] if lines else f"{text[:colon]} []{text[colon:start]}"
    return head + "".join(lines) + above[len(rows)] + text[end:]


def _comments_left(rows: Sequence[_Row], arranged: Sequence[int | str], eol: str) -> dict[int, str]:
    """The comments of dropped rows, by the number of the row they now stand above, or of the end."""
    above: dict[int, str] = {}
    pending = ""
    for index, row in enumerate(rows):
        if index in arranged:
            above[index], pending = pending, ""
        else:
            pending += row.left_behind(eol)
    return above | {len(rows): pending}
