"""Write a note's description, with a suggestion at hand. Nothing is saved that was not asked for."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Markdown, Static, TextArea

from tui.asking import ask, for_each
from tui.dialogs.planned import PlannedDialog
from tui.host import host
from tui.looks.formatting import MUTED
from tui.messages import EditsPlanned, NoteRead, SuggestionRead
from tui.models.shelf import Shelf
from tui.widgets.boxes import TextBox
from tui.widgets.key_bar import KeyBar
from vaultmem.text.shown import harmless, harmless_block
from vaultmem.views import NoteView


class LineBox(TextBox):
    """One sentence that may wrap: Enter saves, pasted line breaks become spaces."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            await self.screen.run_action("save")
            return
        await super()._on_key(event)

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        self.insert(" ".join(event.text.split()))


class DescribeDialog(PlannedDialog):
    """The draft is the description in the box."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,ctrl+s", "save", "Save", priority=False),
        Binding("ctrl+g", "take", "Take the suggestion"),
    ]

    def __init__(self, what: str, note: NoteView) -> None:
        super().__init__(what)
        self._note = note
        self._suggestion = ""

    def compose(self) -> ComposeResult:
        """Name, box, suggestion, the change, the body to look into."""
        with Vertical(classes="dialog"):
            yield Static(f"Describe “{harmless(self._note.name)}”", classes="dialog-title", markup=False)
            yield Static(harmless(self._note.path), classes="dialog-note", markup=False)
            yield LineBox(
                self._note.description, id="description", soft_wrap=True, compact=True, tab_behavior="focus"
            )
            yield Static("", id="description-note")
            yield Static("", id="suggestion")
            with VerticalScroll(id="describe-context"):
                yield Static("", id="plan")
                yield Markdown("", id="describe-body", open_links=False)
            yield KeyBar()

    def on_mount(self) -> None:
        """Ask for the note, a suggestion and the plan."""
        box = self.query_one(LineBox)
        self.screen.set_focus(box)
        box.move_cursor(box.document.end)
        self.plan_edits()
        self._read_note()

    def _read_note(self) -> None:
        path = self._note.path
        ask(
            self,
            lambda engine: engine.suggest_description(path),
            lambda text: SuggestionRead(path, text),
            what="finding a suggestion",
        )
        ask(self, lambda engine: engine.read_note(path), NoteRead, what="reading the note")

    @property
    def _text(self) -> str:
        return " ".join(self.query_one(LineBox).text.split())

    def show_notes(self, shelf: Shelf) -> None:
        """The note as it is now. A description that nobody has touched here follows it."""
        before, box = self._note, self.query_one(LineBox)
        self._note = shelf.by_path.get(before.path, before)
        if self._note != before:
            self._read_note()
        if self._text == before.description != self._note.description:
            box.text = self._note.description
            box.move_cursor(box.document.end)

    def on_note_read(self, event: NoteRead) -> None:
        """Show the body."""
        event.stop()
        self._plan.see(event.note.path, event.note.digest)
        self.query_one("#describe-body", Markdown).update(harmless_block(event.note.body[:4_000]))

    def on_suggestion_read(self, event: SuggestionRead) -> None:
        """Show the suggestion; it stays one until it is taken."""
        event.stop()
        self._suggestion = event.text
        shown = (
            Content.assemble(("ctrl+g takes: ", MUTED), (harmless(event.text), "italic"))
            if event.text
            else ""
        )
        self.query_one("#suggestion", Static).update(shown)

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.draft_changed()
        length, shown = len(self._text), host(self).settings.description_width
        cut = f", a hint shows the first {shown}" if length > shown else ""
        self.query_one("#description-note", Static).update(Content.styled(f"{length} characters{cut}", MUTED))

    def plan_edits(self) -> None:
        """Plan the description."""
        text, path, number = self._text, self._note.path, self._plan.asked
        if not text:
            self.query_one("#plan", Static).update(Content.styled("Nothing to save yet.", MUTED))
            return
        ask(
            self,
            lambda engine: for_each(
                [path], lambda each: engine.edit_description(self._note.id, text, path=each, dry_run=True)
            ),
            lambda planned: EditsPlanned(tuple(planned.done.values()), planned.refused, number),
            what="planning the edit",
        )

    def show_plan(self) -> None:
        """Show what would change."""
        self.query_one("#plan", Static).update(self.shown_plan())

    def action_take(self) -> None:
        """Put the suggestion into the box."""
        if self._suggestion:
            box = self.query_one(LineBox)
            box.text = self._suggestion
            box.move_cursor(box.document.end)

    def action_save(self) -> None:
        """Write the description, if there is one."""
        if self._text:
            self.save()
        else:
            self.app.bell()
