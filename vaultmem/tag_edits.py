"""The tags entry, rewritten in the style it already has.

Items that stay keep the text they were written with. Items that are no tags (a mapping, a null, a word of which
nothing can be kept) are not ours to drop. New items are written in normal form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vaultmem.entries import after_colon, content_end, insert_entry, line_after, line_start, replace_value
from vaultmem.errors import EditRefusedError
from vaultmem.metadata import Alias, Entry, Listing, Mapping, Node, Scalar, resolve
from vaultmem.notes import normalise_tag, split_tag_text, tag_node
from vaultmem.scalars import write_scalar


def write_tags(text: str, tree: Mapping | None, wanted: Sequence[str], eol: str) -> str:
    """Return the block's text with these tags; each of `wanted` is in normal form. Raises EditRefusedError."""
    key, value = tag_node(tree) if tree is not None else ("tags", None)
    entry = tree.entry(key) if tree is not None else None
    if entry is None:
        return insert_entry(text, tree, "tags", new_list(wanted, eol), eol) if wanted else text
    written = entry.value
    if isinstance(resolve(written), Mapping):
        raise EditRefusedError(f"`{key}` on line {written.line} is a mapping, not a list of tags")
    if isinstance(written, Alias):
        return replace_value(text, entry, _flow(_pieces(text, value), wanted))
    if isinstance(written, Scalar):
        return _write_text(text, entry, written, wanted, eol)
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


def _pieces(text: str, value: Node | None) -> list[_Piece]:
    if isinstance(value, Scalar):
        parts = [] if value.is_null else split_tag_text(value.text)
        return [_Piece(normalise_tag(part), part.strip()) for part in parts if part.strip()]
    if isinstance(value, Listing):
        return [_Piece(_tag_of(item), text[item.start : content_end(text, item)]) for item in value.items]
    return []


def _tag_of(item: Node) -> str:
    item = resolve(item)
    return normalise_tag(item.text) if isinstance(item, Scalar) and not item.is_null else ""


def _arrange(current: Sequence[str], wanted: Sequence[str]) -> list[int | str]:
    """Order the new list: numbers stand for items that stay, texts for new tags.

    Items stay where they are, and a new tag follows the one it follows in `wanted`. Only when the wanted order
    contradicts the written one are the items moved.
    """
    kept = [index for index, tag in enumerate(current) if not tag or tag in wanted]
    order = list(dict.fromkeys(current[index] for index in kept if current[index]))
    if order != [tag for tag in wanted if tag in order]:
        tags = [index for index in kept if current[index]]
        tags.sort(key=lambda index: wanted.index(current[index]))
        kept = tags + [index for index in kept if not current[index]]
    result: list[int | str] = list(kept)
    previous = ""
    for tag in wanted:
        if tag not in order:
            names = [current[item] if isinstance(item, int) else item for item in result]
            result.insert(len(names) - names[::-1].index(previous) if previous else 0, tag)
        previous = tag
    return result


# ------------------------------------------------------------------------------------ tags as one text


def _write_text(text: str, entry: Entry, written: Scalar, wanted: Sequence[str], eol: str) -> str:
    if written.is_null:
        return _fill(text, entry, written, wanted, eol)
    pieces = _pieces(text, written)
    arranged = [
        pieces[i].text if isinstance(i, int) else i for i in _arrange([p.tag for p in pieces], wanted)
    ]
    has_commas = len(pieces) < 2 or split_tag_text(written.text) != written.text.split()
    joined = (", " if has_commas else " ").join(arranged)
    is_readable = len(arranged) > 1 or (arranged and not joined.split()[1:])
    if not is_readable or written.style in ("|", ">"):
        return replace_value(text, entry, _flow(pieces, wanted, is_text=True))
    return replace_value(text, entry, write_scalar(joined, style=written.style))


def _fill(text: str, entry: Entry, written: Scalar, wanted: Sequence[str], eol: str) -> str:
    """Put a list where there is `tags:` with nothing, or with a null word."""
    if not wanted:
        return text
    end = text.find("\n", written.end)
    line = text[after_colon(text, entry.key) : written.start] + text[written.end : end]
    head = text[: after_colon(text, entry.key)] + line.rstrip()
    indent = text[line_start(text, entry.key.start) : entry.key.start]
    return (
        head
        + new_list(wanted, eol + indent)
        + (eol if line.endswith("\r") or eol == "\n" else "\n")
        + text[end + 1 :]
    )


# ------------------------------------------------------------------------------------ [flow, lists]


def _flow(pieces: Sequence[_Piece], wanted: Sequence[str], *, is_text: bool = False) -> str:
    """Write a new flow list in which items that stay keep their text."""
    arranged = _arrange([piece.tag for piece in pieces], wanted)
    items = [pieces[item].text if isinstance(item, int) else item for item in arranged]
    is_new = [is_text or isinstance(item, str) for item in arranged]
    written = (write_scalar(i, in_flow=True) if new else i for i, new in zip(items, is_new, strict=True))
    return f"[{', '.join(written)}]"


def _flow_list(text: str, listing: Listing, wanted: Sequence[str]) -> str:
    items = listing.items
    arranged = _arrange([_tag_of(item) for item in items], wanted)
    if arranged == list(range(len(items))):
        return text[listing.start : listing.end]
    if not items:
        head, tail = text[listing.start : listing.end].rstrip("] \t\r\n"), "]"
    else:
        head, tail = text[listing.start : items[0].start], text[items[-1].end : listing.end]
    if not arranged:
        return head.rstrip() + "]"
    result, previous = head, None
    for item in arranged:
        if result is not head:
            result += _separator(text, items, previous, item, head)
        result += (
            text[items[item].start : items[item].end]
            if isinstance(item, int)
            else write_scalar(item, in_flow=True)
        )
        previous = item
    return result + tail


def _separator(text: str, items: Sequence[Node], left: int | str | None, right: int | str, head: str) -> str:
    """Neighbours keep what stood between them; others get what stands between the first two."""
    if isinstance(left, int) and right == left + 1:
        return text[items[left].end : items[left + 1].start]
    if len(items) > 1:
        return text[items[0].end : items[1].start]
    return "," + head.rpartition("[")[2] if "\n" in head else ", "


# ------------------------------------------------------------------------------------ - block lists


@dataclass(frozen=True, slots=True)
class _Row:
    """One item of a block list with the lines it is written on, and the comment and blank lines above it."""

    tag: str
    leading: str
    lines: str
    indent: str
    comment: str  # behind the item on its line

    @property
    def left_behind(self) -> str:
        """What stays of the row when its item goes: its comments."""
        leading = self.leading if "#" in self.leading else ""
        eol = "\r\n" if self.lines.endswith("\r\n") else "\n"
        return leading + (f"{self.indent}{self.comment}{eol}" if self.comment else "")


def _rows(text: str, listing: Listing) -> list[_Row]:
    rows: list[_Row] = []
    place = -1
    for item in listing.items:
        dash = text.rfind("-", 0, item.start)
        start = line_start(text, dash)
        indent = text[start:dash]
        if indent.strip() or text[dash + 1 : item.start].strip():
            raise EditRefusedError(
                f"the list item on line {item.line} is written in a form that cannot be edited safely"
            )
        end = line_after(text, item)
        behind = text[content_end(text, item) : end].strip()
        leading = text[place:start] if place >= 0 else ""
        rows.append(
            _Row(_tag_of(item), leading, text[start:end], indent, behind if behind.startswith("#") else "")
        )
        place = end
    return rows


def _block_list(text: str, entry: Entry, wanted: Sequence[str], eol: str) -> str:
    listing = entry.value
    assert isinstance(listing, Listing)
    rows = _rows(text, listing)
    arranged = _arrange([row.tag for row in rows], wanted)
    if arranged == list(range(len(rows))):
        return text
    start, end = line_start(text, text.rfind("-", 0, listing.items[0].start)), line_after(text, listing)
    comments = _comments_left(rows, arranged)
    if not arranged:
        colon = after_colon(text, entry.key)
        return f"{text[:colon]} []{text[colon:start]}{comments[len(rows)]}{text[end:]}"
    lines = [
        comments.get(item, "") + rows[item].leading + rows[item].lines
        if isinstance(item, int)
        else f"{rows[0].indent}- {write_scalar(item)}{eol}"
        for item in arranged
    ]
    return text[:start] + "".join(lines) + comments[len(rows)] + text[end:]


def _comments_left(rows: Sequence[_Row], arranged: Sequence[int | str]) -> dict[int, str]:
    """Return the comments of dropped rows, by the number of the kept row they now stand above (or of the end)."""
    comments: dict[int, str] = {}
    pending = ""
    for index, row in enumerate(rows):
        if index in arranged:
            comments[index], pending = pending, ""
        else:
            pending += row.left_behind
    comments[len(rows)] = pending
    return comments
