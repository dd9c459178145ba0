"""Notes that share one id, beside each other: compare them, and decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import HorizontalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from tui.asking import ask, for_each
from tui.host import host
from tui.looks.formatting import MUTED, lines, moment
from tui.looks.signs import STATUSES, sign
from tui.messages import (
    CallFailed,
    CopiesRead,
    EditorAsked,
    NewIdsAsked,
    ObsidianAsked,
    StatusAsked,
    TextsRead,
    TrashAsked,
)
from tui.models.comparison import ComparedLine, side_by_side
from tui.panes.pane import WRITING
from tui.widgets.columns import Cells, Column
from tui.widgets.key_bar import KeyBar
from tui.widgets.rows import Rows
from vaultmem.notes.metadata import Status
from vaultmem.text.amounts import size
from vaultmem.text.shown import harmless
from vaultmem.views import NoteCopy, OpenedMemory

SYNC_COPY = "▲ looks like a sync tool's copy"
CHOSEN, COMPARED = "▶ chosen", "◇ compared with"
SIGN_STYLES = {"~": "$text-warning", "-": "$text-error", "+": "$text-success"}


class CopyCard(Static):
    """One of the notes."""

    class Picked(Message):
        """It was clicked."""

        def __init__(self, path: str) -> None:
            self.path = path
            super().__init__()

    def __init__(self, copy: NoteCopy) -> None:
        super().__init__()
        self.path = copy.path
        self.copy = copy

    def show(self, note: OpenedMemory | None, is_chosen: bool, is_base: bool) -> None:
        """Draw what is known of it."""
        self.set_class(is_chosen, "-chosen")
        copy = self.copy
        role = CHOSEN if is_chosen else COMPARED if is_base else ""
        status = sign(STATUSES, note.status) if note else None
        self.update(
            lines(
                [
                    Content.styled(role, "bold $text-accent"),
                    Content.styled(harmless(copy.path.rpartition("/")[2]), "bold"),
                    Content.styled(harmless(copy.path.rpartition("/")[0]) + "/", MUTED),
                    Content(f"changed {moment(copy.mtime)}, {size(copy.size)}"),
                    Content.styled(str(status), status.style) if status else Content(""),
                    Content.styled(
                        SYNC_COPY if copy.looks_like_sync_copy else "",
                        "$text-warning",
                    ),
                ]
            )
        )

    def on_click(self, event: events.Click) -> None:
        """Choose it."""
        event.stop()
        self.post_message(self.Picked(self.path))


class ConflictScreen(Screen[None]):
    """Copies on top, the comparison of two of them below, the fixes as keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "pick(-1)", "Previous", show=False),
        Binding("right,l", "pick(1)", "Copy", key_display="←→"),
        Binding("a", "adopt", "New id"),
        Binding("d", "deprecate", "Deprecate"),
        Binding("d", "activate", "Activate"),
        Binding("K", "trash_others", "Keep only this"),
        Binding("x", "trash", "Trash"),
        Binding("e", "open_editor", "Editor"),
        Binding("o", "open_obsidian", "Obsidian", show=False),
        Binding("escape,c", "leave", "Back", key_display="esc"),
    ]

    def __init__(self, id: str) -> None:
        super().__init__()
        self._shared_id = id
        self._copies: tuple[NoteCopy, ...] = ()
        self._texts: Mapping[str, OpenedMemory] = {}
        self._chosen: str | None = None
        self._compared: Sequence[ComparedLine] = ()

    def compose(self) -> ComposeResult:
        """Title, cards, comparison."""
        yield Static("", id="conflict-title")
        yield HorizontalScroll(id="copies", can_focus=False)
        yield Rows(
            [Column("", 1), Column("", 10, share=1)],
            id="comparison",
        )
        yield KeyBar()

    def on_mount(self) -> None:
        """Read the copies."""
        self.screen.set_focus(self.query_one(Rows))
        self._title("")
        self.read_copies()

    def _title(self, note: str) -> None:
        shown = Content.assemble(
            ("≠ ", "$text-error"),
            "Several notes share the id ",
            (harmless(self._shared_id), "bold"),
            (f"  {note}", MUTED),
        )
        self.query_one("#conflict-title", Static).update(shown)

    # --- data

    def read_copies(self) -> None:
        """Read which notes share the id now."""
        ask(self, lambda engine: engine.copies(self._shared_id), CopiesRead, what="reading the copies")

    def on_copies_read(self, event: CopiesRead) -> None:
        """Show them, or leave when there is no conflict any more."""
        event.stop()
        if len(event.copies) < 2:
            self.app.notify(
                f"No other note carries the id {self._shared_id} any more.", title="Resolved", markup=False
            )
            self.dismiss(None)
            return
        self._copies = tuple(sorted(event.copies, key=lambda copy: copy.path))
        if self._chosen not in {copy.path for copy in event.copies}:
            suspects = [copy.path for copy in event.copies if copy.looks_like_sync_copy]
            self._chosen = suspects[0] if suspects else self._copies[-1].path
        paths = [copy.path for copy in event.copies]
        ask(
            self,
            lambda engine: for_each(paths, engine.read_note),
            lambda read: TextsRead(read.done),
            what="reading the copies' text",
        )

    def on_call_failed(self, event: CallFailed) -> None:
        """The id is gone, or the notes cannot be read: say so and go back."""
        event.stop()
        self.app.notify(
            f"{event.message} {event.advice}".strip(), title=event.what, severity="warning", markup=False
        )
        self.dismiss(None)

    async def on_texts_read(self, event: TextsRead) -> None:
        """Show cards and comparison."""
        event.stop()
        self._texts = event.notes
        holder = self.query_one("#copies")
        await holder.remove_children()
        await holder.mount_all(CopyCard(copy) for copy in self._copies)
        self._show()

    # --- showing

    @property
    def _base(self) -> NoteCopy | None:
        """What the chosen one is compared with: the first other note that is not a sync tool's copy."""
        others = [copy for copy in self._copies if copy.path != self._chosen]
        return next((copy for copy in others if not copy.looks_like_sync_copy), others[0] if others else None)

    def _show(self) -> None:
        base = self._base
        for card in self.query(CopyCard):
            is_chosen = card.path == self._chosen
            card.show(self._texts.get(card.path), is_chosen, base is not None and card.path == base.path)
            if is_chosen:
                card.scroll_visible(animate=False)
        self._title(f"{len(self._copies)} notes; none of them is recalled until only one has it")
        sides = [copy.path for copy in self._copies if copy == base or copy.path == self._chosen]
        texts = [note.text if (note := self._texts.get(path)) else "" for path in sides]
        self._compared = side_by_side(*texts) if len(texts) == 2 else ()
        compared, table = self._compared, self.query_one(Rows)
        table.columns = (table.columns[0], *(self._column(path) for path in sides))
        table.fill([str(at) for at in range(len(compared))], lambda index: _cells(compared[index]))
        self.refresh_bindings()

    def _column(self, path: str) -> Column:
        """The copies stand in the same order above and below, whichever of them is chosen."""
        role = CHOSEN if path == self._chosen else COMPARED
        return Column(f"{role}: {harmless(path.rpartition('/')[2])}", 10, share=1)

    @on(CopyCard.Picked)
    def _picked(self, event: CopyCard.Picked) -> None:
        event.stop()
        self._chosen = event.path
        self._show()

    # --- a person

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing that writes in read-only mode."""
        writes = action in WRITING or action == "trash_others"
        if writes and host(self).is_read_only:
            return False
        if action in ("deprecate", "activate"):
            note = self._texts.get(self._chosen or "")
            return (note is None or note.status == "active") == (action == "deprecate")
        return True

    def action_pick(self, steps: int) -> None:
        """Choose another copy."""
        paths = [copy.path for copy in self._copies]
        if self._chosen in paths:
            self._chosen = paths[(paths.index(self._chosen) + steps) % len(paths)]
            self._show()

    def _tell(self, message: Message) -> None:
        if self._chosen is not None:
            self.app.post_message(message)

    def action_adopt(self) -> None:
        """Give the chosen one a new id."""
        self._tell(NewIdsAsked([self._chosen or ""]))

    def action_deprecate(self) -> None:
        """Deprecate the chosen one."""
        self._tell(StatusAsked([self._chosen or ""], Status.DEPRECATED))

    def action_activate(self) -> None:
        """Make the chosen one active."""
        self._tell(StatusAsked([self._chosen or ""], Status.ACTIVE))

    def action_trash(self) -> None:
        """Move the chosen one to the trash."""
        self._tell(TrashAsked([self._chosen or ""]))

    def action_trash_others(self) -> None:
        """Keep the chosen one, move all others to the trash."""
        others = [copy.path for copy in self._copies if copy.path != self._chosen]
        self._tell(TrashAsked(others, f"Kept: {self._chosen}"))

    def action_open_editor(self) -> None:
        """Open the chosen one in the editor."""
        self._tell(EditorAsked(self._chosen or ""))

    def action_open_obsidian(self) -> None:
        """Open the chosen one in Obsidian."""
        self._tell(ObsidianAsked(self._chosen or ""))

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)


def _cells(line: ComparedLine) -> Cells:
    if line.sign in "§…":
        return Content.styled(line.left, "bold $primary" if line.sign == "§" else MUTED)
    style = SIGN_STYLES.get(line.sign, MUTED)
    return (
        Content.styled(line.sign, style),
        Content.styled(plain_line(line.left), style),
        Content.styled(plain_line(line.right), style),
    )


def plain_line(text: str) -> str:
    """A line of a file: its indent stays, the rest is shown harmlessly."""
    expanded = text.expandtabs(4)
    return expanded[: len(expanded) - len(expanded.lstrip())] + harmless(expanded)
