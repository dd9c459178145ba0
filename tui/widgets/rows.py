"""A table of any length: only the lines on the screen are drawn, the cursor belongs to a key, not to a line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from tui.widgets.columns import GUTTER, Cells, Column, joined, laid_out, titles


class RowsSaid(Message):
    """Something about the row with this key."""

    def __init__(self, rows: Rows, key: str | None) -> None:
        self.rows = rows
        self.key = key
        super().__init__()

    @property
    def control(self) -> Rows:
        """The table it is about."""
        return self.rows


class Rows(ScrollView, can_focus=True):
    """Rows with a cursor and marks. `fill` gives it the keys and a function that draws one row when it is seen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rows--header",
        "rows--cursor",
        "rows--heading",
        "rows--marked",
        "rows--empty",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home,g", "jump(0)", "First", show=False),
        Binding("end,G", "jump(-1)", "Last", show=False),
        Binding("shift+up", "extend(-1)", "Mark upwards", show=False),
        Binding("shift+down", "extend(1)", "Mark downwards", show=False),
        Binding("enter", "choose", "Open", show=False),
    ]

    index: reactive[int] = reactive(0, init=False)

    class Moved(RowsSaid):
        """The cursor is on another row, or the rows were filled anew; its key is None on an empty table."""

        def __init__(self, rows: Rows, key: str | None, *, is_from_fill: bool) -> None:
            super().__init__(rows, key)
            self.is_from_fill = is_from_fill

    class Chosen(RowsSaid):
        """Enter, or a second click, on a row."""

    class Marked(RowsSaid):
        """The set of marked rows changed."""

    class HeaderClicked(RowsSaid):
        """A column's title was clicked; the key is the column's."""

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        id: str | None = None,
        has_header: bool = True,
        can_mark: bool = False,
        empty: str = "",
    ) -> None:
        super().__init__(id=id)
        self.columns = tuple(columns)
        self.has_header = has_header
        self.can_mark = can_mark
        self.empty = empty
        self.sort_mark: tuple[str, bool] | None = None
        self.marked: set[str] = set()
        self._keys: Sequence[str] = ()
        self._draw: Callable[[int], Cells] = lambda index: ()
        if can_mark:
            self._bindings.bind("space", "mark", "Mark", show=True)

    # --- what it holds

    @property
    def key(self) -> str | None:
        """The key under the cursor."""
        return self._keys[self.index] if 0 <= self.index < len(self._keys) else None

    @property
    def keys(self) -> Sequence[str]:
        """The keys of all rows, in order."""
        return self._keys

    def chosen_keys(self) -> tuple[str, ...]:
        """The marked keys in the order they are shown, or the one under the cursor."""
        if self.marked:
            return tuple(key for key in self._keys if key in self.marked)
        return (self.key,) if self.key is not None else ()

    def fill(
        self,
        keys: Sequence[str],
        draw: Callable[[int], Cells],
        *,
        key: str | None = None,
        is_from_top: bool = False,
    ) -> None:
        """Show these rows. The cursor stays on its key (or goes to `key`), and that row on its line.

        When the key is gone, the cursor stays at its place in the order. Rows that answer something new are shown
        from the top (`is_from_top`), as far as the cursor's row is then in sight.
        """
        wanted = key if key is not None else self.key
        line = len(keys) if is_from_top else self.index - self.scroll_offset.y
        self._keys, self._draw = keys, draw
        gone = self.marked.difference(keys) if self.marked else ()
        self.marked.difference_update(gone)
        index = self._position(wanted)
        self.set_reactive(Rows.index, index)
        self._resize_virtual()
        self.scroll_to(y=max(0, index - line), animate=False, force=True)
        self.call_after_refresh(self._show_cursor)
        self.refresh()
        self.post_message(self.Moved(self, self.key, is_from_fill=True))
        if gone:
            self.post_message(self.Marked(self, self.key))

    def _position(self, wanted: str | None) -> int:
        if wanted is not None:
            try:
                return self._keys.index(wanted)
            except ValueError:
                pass
        return max(0, min(self.index, len(self._keys) - 1))

    def go_to(self, key: str) -> bool:
        """Put the cursor on this key's row; False when there is none."""
        if key not in self._keys:
            return False
        self.index = self._keys.index(key)
        return True

    def clear_marks(self) -> None:
        """Unmark every row."""
        if self.marked:
            self.marked.clear()
            self.refresh()
            self.post_message(self.Marked(self, self.key))

    def mark(self, keys: Collection[str]) -> None:
        """Mark these rows too."""
        self.marked.update(keys)
        self.refresh()
        self.post_message(self.Marked(self, self.key))

    def mark_all(self) -> None:
        """Mark every row that is shown, or unmark them when they all are."""
        if self.marked.issuperset(self._keys):
            self.clear_marks()
            return
        self.marked.update(self._keys)
        self.refresh()
        self.post_message(self.Marked(self, self.key))

    # --- moving

    def watch_index(self, old: int, new: int) -> None:
        """Redraw the two lines concerned and tell."""
        self.refresh_lines(self._line(old))
        self.refresh_lines(self._line(new))
        self._show_cursor()
        self.post_message(self.Moved(self, self.key, is_from_fill=False))

    def validate_index(self, index: int) -> int:
        """Keep the cursor on a row."""
        return max(0, min(index, len(self._keys) - 1))

    def _line(self, index: int) -> int:
        return index + self.has_header

    def _show_cursor(self) -> None:
        height = max(1, self.size.height - self.has_header)
        top = self.scroll_offset.y
        if self.index < top:
            self.scroll_to(y=self.index, animate=False, force=True)
        elif self.index >= top + height:
            self.scroll_to(y=self.index - height + 1, animate=False, force=True)

    def action_move(self, lines: int) -> None:
        """Move the cursor by lines."""
        self.index += lines

    def action_page(self, pages: int) -> None:
        """Move the cursor by screens."""
        self.index += pages * max(1, self.size.height - 1 - self.has_header)

    def action_jump(self, index: int) -> None:
        """Move the cursor to the first (0) or last (-1) row."""
        self.index = index if index >= 0 else len(self._keys) - 1

    def action_choose(self) -> None:
        """Tell that the row under the cursor was chosen."""
        if self.key is not None:
            self.post_message(self.Chosen(self, self.key))

    def action_mark(self) -> None:
        """Mark or unmark the row under the cursor, and go on to the next."""
        if not self.can_mark or self.key is None:
            return
        self.marked.symmetric_difference_update({self.key})
        self.refresh_lines(self._line(self.index))
        self.post_message(self.Marked(self, self.key))
        self.index += 1

    def action_extend(self, lines: int) -> None:
        """Mark the row under the cursor and the next one."""
        if not self.can_mark or self.key is None:
            return
        self.marked.add(self.key)
        self.index += lines
        self.marked.add(self.key)
        self.refresh()
        self.post_message(self.Marked(self, self.key))

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a second one chooses; on the left edge it marks; on a title it sorts."""
        event.stop()
        offset = event.get_content_offset(self)
        if offset is None:
            return
        if self.has_header and offset.y == 0:
            self._click_header(offset.x)
            return
        index = self.scroll_offset.y + offset.y - self.has_header
        if not 0 <= index < len(self._keys):
            return
        is_again = index == self.index
        self.index = index
        if self.can_mark and (event.ctrl or offset.x < GUTTER):
            self.action_mark()
            self.index = index
        elif is_again and event.chain >= 2:
            self.action_choose()

    def _click_header(self, x: int) -> None:
        left = GUTTER
        for column, width in laid_out(self.columns, self.size.width):
            if left <= x < left + width + 1:
                self.post_message(self.HeaderClicked(self, column.key))
                return
            left += width + 1

    # --- drawing

    def on_resize(self) -> None:
        """The rows are as wide as the table."""
        self._resize_virtual()
        self._show_cursor()

    def _resize_virtual(self) -> None:
        width = max(1, self.container_size.width - self.styles.gutter.width)
        self.virtual_size = Size(
            min(width, max(1, self.scrollable_content_region.width)), len(self._keys) + self.has_header
        )
        self.refresh()

    def refresh_lines(self, y_start: int, line_count: int = 1) -> None:
        """Redraw lines, counted from the top of all rows, the header's included."""
        top = y_start - self.scroll_offset.y
        self.refresh(Region(0, top, max(self.size.width, 1), line_count))

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        width = self.scrollable_content_region.width
        if self.has_header and y == 0:
            return self._strip(
                titles(self.columns, width, self.sort_mark), self.get_visual_style("rows--header"), width
            )
        index = self.scroll_offset.y + y - self.has_header
        if not self._keys and index == 0 and self.empty:
            style = self.get_visual_style("rows--empty")
            return self._strip(Content("   " + self.empty), style, width)
        if not 0 <= index < len(self._keys):
            return Strip.blank(width, self.visual_style.rich_style)
        return self._row(index, width)

    def _row(self, index: int, width: int) -> Strip:
        key, drawn = self._keys[index], self._draw(index)
        is_cursor, is_marked = index == self.index, key in self.marked
        names = [
            name
            for name, holds in (
                ("rows--heading", isinstance(drawn, Content)),
                ("rows--marked", is_marked),
                ("rows--cursor", is_cursor),
            )
            if holds
        ]
        bar = ("▌" if self.has_focus else "▏") if is_cursor else " "
        gutter = Content(bar + ("✓" if is_marked else " ") + " ")
        body = drawn if isinstance(drawn, Content) else joined(self.columns, drawn, width)
        style = self.get_visual_style(*names)
        if is_cursor and self.get_component_styles("rows--cursor").text_style.reverse:
            style += Style(reverse=True)  # which Textual leaves out of a visual style
        return self._strip(gutter + body, style, width)

    def _strip(self, content: Content, style: Style, width: int) -> Strip:
        fitted = content.truncate(max(0, width), ellipsis=True, pad=True)
        parts = fitted.render(style, end="", parse_style=self._get_style)
        segments = [Segment(text, (style + part).rich_style) for text, part in parts]
        return Strip(segments).adjust_cell_length(width, style.rich_style)
