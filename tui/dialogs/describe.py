"""Write a note's description, with a suggestion at hand. Nothing is saved that was not asked for."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Markdown, Static, TextArea

from tui.asking import ask, for_each
from tui.dialogs.dialog import Dialog
from tui.formatting import diff_lines, plain
from tui.messages import EditsPlanned, NoteRead, SuggestionRead
from tui.planning import Plan
from tui.widgets.boxes import TextBox
from tui.widgets.key_bar import KeyBar
from vaultmem.views import Edited, NoteView

PLAN_DELAY_S = 0.1
HINT_WIDTH = 160


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


class DescribeDialog(Dialog[Edited]):
    """The answer is the edit as it was shown, to be applied to exactly the file it was planned on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,ctrl+s", "save", "Save", priority=False),
        Binding("ctrl+g", "take", "Take the suggestion"),
    ]

    def __init__(self, note: NoteView) -> None:
        super().__init__()
        self._note = note
        self._plan = Plan()
        self._suggestion = ""
        self._timer: Timer | None = None
        self.wants_to_save = False

    def compose(self) -> ComposeResult:
        """Name, box, suggestion, the change, the body to look into."""
        with Vertical(classes="dialog"):
            yield Static(f"Describe “{plain(self._note.name)}”", classes="dialog-title", markup=False)
            yield Static(plain(self._note.path), classes="dialog-note", markup=False)
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
        """Bind the dialog to the note as it is now; ask for a suggestion and the body."""
        path, box = self._note.path, self.query_one(LineBox)
        self.screen.set_focus(box)
        box.move_cursor(box.document.end)
        self._ask_plan()
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

    def on_note_read(self, event: NoteRead) -> None:
        """Show the body."""
        event.stop()
        self.query_one("#describe-body", Markdown).update(event.note.body[:4_000])

    def on_suggestion_read(self, event: SuggestionRead) -> None:
        """Show the suggestion; it stays one until it is taken."""
        event.stop()
        self._suggestion = event.text
        shown = (
            Content.assemble(("ctrl+g takes: ", "$foreground 60%"), (plain(event.text), "italic"))
            if event.text
            else ""
        )
        self.query_one("#suggestion", Static).update(shown)

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.wants_to_save = False
        self._plan.outdate()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(PLAN_DELAY_S, self._ask_plan)
        length = len(self._text)
        cut = f", a hint shows the first {HINT_WIDTH}" if length > HINT_WIDTH else ""
        self.query_one("#description-note", Static).update(
            Content.styled(f"{length} characters{cut}", "$foreground 60%")
        )

    def _ask_plan(self) -> None:
        text, path, number = self._text, self._note.path, self._plan.asked
        if not text:
            self.query_one("#plan", Static).update(Content.styled("Nothing to save yet.", "$foreground 60%"))
            return
        ask(
            self,
            lambda engine: for_each(
                [path], lambda each: engine.edit_description(self._note.id, text, path=each, dry_run=True)
            ),
            lambda planned: EditsPlanned(tuple(planned[0]), planned[1], number),
            what="planning the edit",
        )

    def on_edits_planned(self, event: EditsPlanned) -> None:
        """Show what would change."""
        event.stop()
        if not self._plan.take(event):
            return
        shown = self._plan.complaint() or "\n".join(each.diff for each in self._plan.changes)
        self.query_one("#plan", Static).update(
            Content.styled(shown, "$text-error") if self._plan.complaint() else diff_lines(shown)
        )
        if self.wants_to_save:
            self.action_save()

    def action_take(self) -> None:
        """Put the suggestion into the box."""
        if self._suggestion:
            box = self.query_one(LineBox)
            box.text = self._suggestion
            box.move_cursor(box.document.end)

    def action_save(self) -> None:
        """Answer with the planned edit, once it is the plan of what stands in the box."""
        if not self._text:
            self.app.bell()
            return
        if not self._plan.is_current:
            self.wants_to_save = True
            self._ask_plan()
            return
        if not self._plan.complaint():
            self.dismiss(self._plan.changes[0] if self._plan.changes else None)
