"""The tag editor, for one note or many: chips, completion, and the lines that will change before they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from tui.asking import ask, for_each
from tui.dialogs.completions import Completions
from tui.dialogs.planned import PlannedDialog
from tui.looks.formatting import MUTED
from tui.messages import EditsPlanned
from tui.models.shelf import Shelf
from tui.models.tag_draft import TagDraft, completions
from tui.widgets.boxes import LineInput
from tui.widgets.chips import Chips
from tui.widgets.key_bar import KeyBar
from tui.widgets.rows import Rows
from vaultmem.text.amounts import count, counted
from vaultmem.text.shown import harmless
from vaultmem.views import NoteView


class TagBox(LineInput):
    """Where a tag is typed. Down goes to the completions, backspace on an empty box takes the last tag off."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "screen.completions", "Completions", show=False)]

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "backspace" and not self.value:
            event.stop()
            event.prevent_default()
            await self.screen.run_action("take_last")
            return
        await super()._on_key(event)


class TagDialog(PlannedDialog):
    """The draft is what is to be added to the notes' tags and removed from them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "save", "Add, then save", priority=False),
        Binding("ctrl+s", "save_now", "Save"),
        Binding("tab", "app.focus_next", "Chips and changes", show=False),
    ]

    PLAN_DELAY_S = 0.08

    def __init__(self, what: str, notes: Sequence[NoteView], vault_tags: Mapping[str, int]) -> None:
        super().__init__(what)
        self._notes, self._vault_tags = tuple(notes), vault_tags
        self._draft = TagDraft.of([note.tags for note in notes])

    def compose(self) -> ComposeResult:
        """Chips, box, completions, changes."""
        with Vertical(classes="dialog"):
            yield Static(self._titled(), classes="dialog-title", markup=False)
            yield Chips(id="chips")
            yield TagBox(placeholder="type a tag", compact=True, id="tag-box")
            yield Static("", id="tag-note")
            yield Completions()
            yield Static("", id="plan-summary")
            with VerticalScroll(id="plan-scroll"):
                yield Static("", id="plan")
            yield KeyBar()

    def _titled(self) -> str:
        if len(self._notes) == 1:
            return f"Tags of “{harmless(self._notes[0].name)}”"
        return f"Tags of {counted(len(self._notes), 'note')}"

    def on_mount(self) -> None:
        """Bind the dialog to the notes as they are now."""
        self._show_chips()
        self._complete()
        self.plan_edits()
        self.screen.set_focus(self.query_one(TagBox))

    # --- typing

    @property
    def _typed_tag(self) -> str:
        from vaultmem.notes.tags import normalise_tag

        return normalise_tag(self.query_one(TagBox).value)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._complete()

    def _complete(self) -> None:
        raw, tag = self.query_one(TagBox).value, self._typed_tag
        taken = [chip.tag for chip in self._draft.chips if chip.on == chip.total or chip.is_added]
        self.query_one(Completions).offer(completions(tag, self._vault_tags, taken))
        self.query_one("#tag-note", Static).update(_typed_note(raw, tag, self._vault_tags))

    def action_completions(self) -> None:
        """Go to the completions."""
        table = self.query_one(Completions)
        if table.keys:
            self.screen.set_focus(table)

    @on(Rows.Chosen, "#completions")
    def _completion_chosen(self, event: Rows.Chosen) -> None:
        event.stop()
        if event.key:
            self._add(event.key)
            self.screen.set_focus(self.query_one(TagBox))

    def _add(self, tag: str) -> None:
        self._change(self._draft.with_tag(tag))
        self.query_one(TagBox).value = ""

    def action_take_last(self) -> None:
        """Take the last tag off."""
        self._change(self._draft.without_last())

    @on(Chips.Turned)
    def _chip_turned(self, event: Chips.Turned) -> None:
        event.stop()
        self._change(self._draft.turned(event.tag))

    @on(Chips.Removed)
    def _chip_removed(self, event: Chips.Removed) -> None:
        event.stop()
        self._change(self._draft.without(event.tag))

    def _change(self, draft: TagDraft) -> None:
        self._draft = draft
        self._show_chips()
        self._complete()
        self.draft_changed()

    def _show_chips(self) -> None:
        self.query_one(Chips).chips = self._draft.chips

    # --- the plan

    def show_notes(self, shelf: Shelf) -> None:
        """What the notes have now; what is wanted stays."""
        self._notes = tuple(shelf.by_path.get(note.path, note) for note in self._notes)
        self._draft = self._draft.on([note.tags for note in self._notes])
        self._show_chips()

    def plan_edits(self) -> None:
        """Plan the tags of all notes."""
        draft, number = self._draft, self._plan.asked
        ids = {note.path: note.id for note in self._notes}
        ask(
            self,
            lambda engine: for_each(
                ids,
                lambda path: engine.edit_tags(
                    ids[path], add=draft.added, remove=sorted(draft.removed), path=path, dry_run=True
                ),
            ),
            lambda planned: EditsPlanned(tuple(planned.done.values()), planned.refused, number),
            what="planning the tags",
        )

    def show_plan(self) -> None:
        """Show what would change."""
        self.query_one("#plan-summary", Static).update(Content.styled(self._plan.summary(), MUTED))
        self.query_one("#plan", Static).update(self.shown_plan())

    async def action_save(self) -> None:
        """Enter: add what was typed; with an empty box, save."""
        if self.query_one(TagBox).value.strip():
            if self._typed_tag:
                self._add(self._typed_tag)
            else:
                self.app.bell()
            return
        self.action_save_now()

    @on(Input.Submitted)
    async def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        await self.action_save()

    def action_save_now(self) -> None:
        """Write the tags, those in the box included."""
        if self._typed_tag:
            self._add(self._typed_tag)
        self.save()


def _typed_note(raw: str, tag: str, vault_tags: Mapping[str, int]) -> Content:
    if not raw.strip():
        return Content.styled("enter adds, then saves · ↓ completions · shift+tab chips", MUTED)
    if not tag:
        return Content.styled(
            "✖ nothing is left of it: a tag is made of letters, digits, emoji, / - and _", "$text-error"
        )
    known = vault_tags.get(tag)
    use = f"used {count(known)} times" if known else "a new tag"
    return Content.assemble(("→ ", MUTED), ("#" + harmless(tag), "bold $text-secondary"), (f"  {use}", MUTED))
