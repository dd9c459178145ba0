"""Memories: every note in a table, by time and by tag, with its text beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Tree

from tui.asking import ask, error_text
from tui.looks.formatting import MUTED, day
from tui.looks.signs import STATUSES, sign
from tui.messages import NoteNotRead, NoteRead
from tui.models.shelf import SORTS, Mark, Place, changed, matching, sorted_notes, told_apart
from tui.panes.pane import BACK, READ_DELAY_S, NotePane
from tui.widgets.columns import Cells, Column, apart
from tui.widgets.filter_bar import FilterBar
from tui.widgets.note_view import NotePreview
from tui.widgets.places import PlaceTree
from tui.widgets.rows import Rows
from vaultmem.text.amounts import count
from vaultmem.text.shown import harmless
from vaultmem.views import NoteView, OpenedMemory

COLUMNS = (
    Column("name", 12, share=4, key="name"),
    Column("tags", 8, share=3, needs=44, key="tags"),
    Column("status", 12, needs=66, key="status"),
    Column("updated", 10, needs=76, key="updated"),
    Column("path", 16, share=3, needs=118, key="path"),
)


class MemoriesPane(NotePane):
    """A tree of times and tags, the table, a preview."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("s", "sort", "Sort"),
        Binding("S", "reverse", "Reverse", show=False),
        Binding("b", "toggle_tree", "Tree"),
        Binding("v", "toggle_preview", "Preview", show=False),
        Binding("A", "mark_all", "Mark all", show=False),
        BACK,
        Binding("escape", "clear", "Clear filter and marks", show=False),
    ]
    LIST = "#memories"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._place = Place()
        self._sort = ("updated", True)
        self._ordered: list[NoteView] = []
        self._shown: list[NoteView] = []
        self._timer: Timer | None = None
        self._wanted: str | None = None

    def compose(self) -> ComposeResult:
        """Tree, table under its filter, preview."""
        with Horizontal():
            yield PlaceTree(id="places")
            with Vertical(id="memories-list"):
                yield FilterBar("filter by name, description, #tag, id, path, status", id="memories-filter")
                yield Rows(COLUMNS, id="memories", can_mark=True, empty="no notes")
            yield NotePreview(id="preview")

    def on_mount(self) -> None:
        """Show how the table is sorted."""
        self.query_one("#memories", Rows).sort_mark = self._sort

    # --- data

    def shelf_changed(self) -> None:
        """Sort anew; cursor, marks, filter and scroll position stay."""
        self.query_one(PlaceTree).show(len(self.shelf.notes), self.shelf.times, self.shelf.tags)
        self._ordered = sorted_notes(self.shelf.notes, *self._sort)
        self._fill()

    def _fill(self) -> None:
        bar = self.query_one("#memories-filter", FilterBar)
        here = (
            [note for note in self._ordered if self._place.holds(note)]
            if self._place.value
            else self._ordered
        )
        self._shown = matching(here, self.shelf.haystacks, bar.words)
        shown = self._shown
        where = f"{harmless(self._place.value)} · " if self._place.value else ""
        bar.note = f"{where}{count(len(shown))} of {count(len(self._ordered))}"
        table = self.query_one("#memories", Rows)
        table.empty = "no note matches; esc shows all" if self._ordered else "no notes yet"
        marks = told_apart((note.path, note.name, note.id or "") for note in shown)
        table.fill(
            [note.path for note in shown],
            lambda index: _cells(shown[index], marks.get(shown[index].path)),
        )

    def chosen(self) -> Sequence[NoteView]:
        """The marked notes, else the one under the cursor."""
        return self.shelf.at(self.query_one("#memories", Rows).chosen_keys())

    def show_tag(self, tag: str) -> None:
        """Show the notes with this tag."""
        self.query_one("#memories-filter", FilterBar).clear()
        self._place = Place("tag", tag)
        self._fill()

    def _show_everything(self) -> None:
        self._place = Place()
        self.query_one("#memories-filter", FilterBar).clear()

    # --- the preview

    @on(Rows.Moved, "#memories")
    def _moved(self, event: Rows.Moved) -> None:
        event.stop()
        self._wanted = event.key
        self.refresh_bindings()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(READ_DELAY_S, self.read_preview)

    def read_preview(self) -> None:
        """Read the note under the cursor."""
        path, preview = self._wanted, self.query_one(NotePreview)
        if path is None or not preview.display:
            preview.clear()
            return
        ask(
            self,
            lambda engine: engine.read_note(path),
            NoteRead,
            what="reading the note",
            group="preview",
            on_error=lambda error: NoteNotRead(path, error_text(error)),
        )

    def on_note_read(self, event: NoteRead) -> None:
        """Show it, if it still is the one under the cursor."""
        event.stop()
        if event.note.path == self._wanted:
            self._show_note(event.note)

    def _show_note(self, note: OpenedMemory) -> None:
        self.query_one(NotePreview).show(note, self.shelf.by_path.get(note.path))

    def on_note_not_read(self, event: NoteNotRead) -> None:
        """Say why it cannot be shown."""
        event.stop()
        if event.path == self._wanted:
            self.query_one(NotePreview).complain(event.path, event.message)

    # --- a person

    def action_filter(self) -> None:
        """Type a filter."""
        self.query_one("#memories-filter", FilterBar).start()

    @on(Input.Changed)
    def _filter_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._fill()

    @on(FilterBar.Left)
    def _filter_left(self, event: FilterBar.Left) -> None:
        event.stop()
        self.enter()

    def action_sort(self) -> None:
        """Sort by the next column."""
        names = list(SORTS)
        column = names[(names.index(self._sort[0]) + 1) % len(names)]
        self._sort_by(column, column == "updated")

    def action_reverse(self) -> None:
        """Turn the order round."""
        self._sort_by(self._sort[0], not self._sort[1])

    @on(Rows.HeaderClicked, "#memories")
    def _header_clicked(self, event: Rows.HeaderClicked) -> None:
        event.stop()
        column = event.key or "updated"
        same = column == self._sort[0]
        self._sort_by(column, not self._sort[1] if same else column == "updated")

    def _sort_by(self, column: str, is_descending: bool) -> None:
        self._sort = (column, is_descending)
        self.query_one("#memories", Rows).sort_mark = self._sort
        self._ordered = sorted_notes(self.shelf.notes, column, is_descending)
        self._fill()

    @on(Tree.NodeSelected)
    def _place_chosen(self, event: Tree.NodeSelected[Place]) -> None:
        event.stop()
        if event.node.data is not None:
            self._place = event.node.data
            self._fill()

    @on(Rows.Marked, "#memories")
    def _marked(self, event: Rows.Marked) -> None:
        event.stop()
        marked = len(event.rows.marked)
        bar = self.query_one("#memories-filter", FilterBar)
        base = bar.note.partition("✓")[0].rstrip(" ·")
        bar.note = f"{base} · ✓ {count(marked)}" if marked else base
        self.refresh_bindings()

    @on(Rows.Chosen, "#memories")
    def _row_chosen(self, event: Rows.Chosen) -> None:
        event.stop()
        preview = self.query_one(NotePreview)
        preview.display = True
        self.read_preview()
        self.screen.set_focus(preview)

    def action_toggle_tree(self) -> None:
        """Show or hide the tree."""
        tree = self.query_one(PlaceTree)
        is_there = tree.display and tree.size.width > 0
        self.set_class(not is_there, "-with-tree")
        self.set_class(is_there, "-without-tree")
        if not is_there:
            self.screen.set_focus(tree)
        else:
            self.enter()

    def action_toggle_preview(self) -> None:
        """Show or hide the preview."""
        preview = self.query_one(NotePreview)
        is_there = preview.display and preview.size.width > 0
        self.set_class(not is_there, "-with-preview")
        self.set_class(is_there, "-without-preview")
        self.read_preview()

    def action_mark_all(self) -> None:
        """Mark every note that is shown, or none."""
        self.query_one("#memories", Rows).mark_all()

    def action_clear(self) -> None:
        """First the marks, then the filter and the place."""
        table = self.query_one("#memories", Rows)
        if table.marked:
            table.clear_marks()
        else:
            self._show_everything()
            self._fill()
            self.enter()


def _cells(note: NoteView, mark: Mark | None) -> Cells:
    status = sign(STATUSES, note.status)
    name = harmless(note.name) or "—"
    marks = f"{status.glyph} " if note.status != "active" else "≠ " if note.in_conflict else ""
    marks += "◌ " if note.is_pending else ""
    shown_name = Content.assemble((marks, "$text-warning"), name if note.admitted else (name, MUTED))
    stamp = changed(note)
    return (
        apart(shown_name, mark),
        Content.styled(" ".join(harmless(tag) for tag in note.tags), "$text-secondary"),
        Content.styled(str(status), status.style),
        Content.styled(day(stamp.text if stamp else None), MUTED),
        Content.styled(harmless(note.path), MUTED),
    )
