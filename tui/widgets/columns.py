"""The columns of a table: how wide each is in the room there is, and a row's cells laid into them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.content import Content

from tui.looks.formatting import with_tail
from tui.models.shelf import Mark
from vaultmem.text.shown import harmless

GUTTER = 3
"""Cells at the left: the cursor's bar, the mark, a space."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `width` in cells; with a `share` it also gets that part of what is left over.

    A table narrower than `needs` does not show the column.
    """

    title: str
    width: int
    share: int = 0
    needs: int = 0
    is_right: bool = False
    key: str = ""
    """What `Rows.HeaderClicked` names it by."""


Cell = str | Content | Callable[[int], Content]
"""A text, or what draws one for the width that its column has got."""

Cells = tuple[Cell, ...] | Content
"""What a row shows: one cell per column, or one text over the whole width (a heading)."""


def laid_out(columns: Sequence[Column], width: int) -> list[tuple[Column, int]]:
    """The columns that are shown in a table of this width, each with its cells."""
    shown = [column for column in columns if width >= column.needs]
    room = width - GUTTER - sum(column.width for column in shown) - max(0, len(shown) - 1)
    shares = sum(column.share for column in shown)
    if not shares or room <= 0:
        return [(column, column.width) for column in shown]
    widths = [column.width + room * column.share // shares for column in shown]
    rest = width - GUTTER - sum(widths) - max(0, len(shown) - 1)
    grows = next(index for index, column in enumerate(shown) if column.share)
    widths[grows] += rest
    return list(zip(shown, widths, strict=True))


def titles(columns: Sequence[Column], width: int, sort_mark: tuple[str, bool] | None) -> Content:
    """The titles over the columns; the one that is sorted by has an arrow."""
    shown = []
    for column, room in laid_out(columns, width):
        mark = ""
        if sort_mark and column.key and sort_mark[0] == column.key:
            mark = " ↓" if sort_mark[1] else " ↑"
        shown.append(_fitted(Content(column.title + mark), room, column.is_right))
    return Content(" " * GUTTER) + Content(" ").join(shown)


def joined(columns: Sequence[Column], cells: Sequence[Cell], width: int) -> Content:
    """A row's cells, each in the room that its column has got."""
    shown: list[Content] = []
    parts = dict(zip(columns, cells, strict=False))
    for column, room in laid_out(columns, width):
        part = parts.get(column, "")
        content = part(room) if callable(part) else part if isinstance(part, Content) else Content(part)
        shown.append(_fitted(content, room, column.is_right))
    return Content(" ").join(shown)


def apart(name: Content, mark: Mark | None) -> Cell:
    """A name; where others have the same, with what tells it from them."""
    if mark is None:
        return name
    tail, short = harmless(mark.text), harmless(mark.short)
    return lambda width: with_tail(name, tail, short, width)


def _fitted(content: Content, width: int, is_right: bool) -> Content:
    """Exactly `width` cells of the content: cut with `…`, or filled with spaces."""
    cut = content.truncate(width, ellipsis=True)
    missing = max(0, width - cut.cell_length)
    return Content(" " * missing) + cut if is_right else cut.pad_right(missing)
