"""Rename a tag over the whole vault, or merge it into another, with a preview of the files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from tui.asking import ask
from tui.dialogs.completions import Completions
from tui.dialogs.planned import PlannedDialog
from tui.looks.formatting import MUTED, lines
from tui.messages import CallFailed, EditsPlanned
from tui.models.shelf import Shelf
from tui.models.tag_draft import completions
from tui.widgets.boxes import LineInput
from tui.widgets.key_bar import KeyBar
from tui.widgets.rows import Rows
from vaultmem.text.amounts import count
from vaultmem.text.shown import harmless


class RenameTagDialog(PlannedDialog):
    """The draft is the two names; all notes that have the first one, or one below it, get the second."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,ctrl+s", "save", "Rename", priority=False)]

    PLAN_DELAY_S = 0.15

    def __init__(self, what: str, vault_tags: Mapping[str, int], tag: str = "") -> None:
        super().__init__(what)
        self._vault_tags, self._tag = vault_tags, tag

    def compose(self) -> ComposeResult:
        """From, to, completions for either, the files."""
        with Vertical(classes="dialog"):
            yield Static("Rename or merge a tag", classes="dialog-title", markup=False)
            with Horizontal(classes="field"):
                yield Static("from ", markup=False)
                yield LineInput(self._tag, placeholder="a tag of the vault", compact=True, id="rename-old")
            with Horizontal(classes="field"):
                yield Static("to   ", markup=False)
                yield LineInput(
                    placeholder="its new name, or a tag to merge it into", compact=True, id="rename-new"
                )
            yield Static("", id="rename-note")
            yield Completions()
            with VerticalScroll(id="plan-scroll"):
                yield Static("", id="plan")
            yield KeyBar()

    def on_mount(self) -> None:
        """Begin where something is missing."""
        self.screen.set_focus(self.query_one("#rename-new" if self._tag else "#rename-old", Input))
        self._box = self.query_one("#rename-new" if self._tag else "#rename-old", Input)
        self._complete()

    def _normalised(self, box: str) -> str:
        from vaultmem.notes.tags import normalise_tag

        return normalise_tag(self.query_one(f"#{box}", Input).value)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._box = event.input
        self._complete()
        self.draft_changed()

    def _complete(self) -> None:
        from vaultmem.notes.tags import normalise_tag

        typed = normalise_tag(self._box.value)
        self.query_one(Completions).offer(completions(typed, self._vault_tags, ()))
        self._show_note()

    def _show_note(self) -> None:
        old, new = self._normalised("rename-old"), self._normalised("rename-new")
        known = self._vault_tags.get(new)
        if not old or not new:
            told = Content.styled("both names are needed; tags below it (old/…) follow", MUTED)
        elif known:
            told = Content.assemble(
                (f"▲ merges #{harmless(old)} into #{harmless(new)}", "$text-warning"),
                (f", used {count(known)} times", MUTED),
            )
        else:
            told = Content.assemble(("→ ", MUTED), (f"#{harmless(old)} becomes #{harmless(new)}", "bold"))
        self.query_one("#rename-note", Static).update(told)

    @on(Rows.Chosen, "#completions")
    def _completion_chosen(self, event: Rows.Chosen) -> None:
        event.stop()
        if event.key:
            self._box.value = event.key
            self.screen.set_focus(self._box)

    def show_notes(self, shelf: Shelf) -> None:
        """The vault's tags as they are now."""
        self._vault_tags = shelf.tags
        self._complete()

    def plan_edits(self) -> None:
        """Plan the new name in all notes."""
        old, new, number = self._normalised("rename-old"), self._normalised("rename-new"), self._plan.asked
        if not old or not new or old == new:
            self.query_one("#plan", Static).update("")
            return
        ask(
            self,
            lambda engine: engine.rename_tag(old, new, dry_run=True),
            lambda edits: EditsPlanned(tuple(edits), {}, number),
            what="planning the new name",
        )

    def on_call_failed(self, event: CallFailed) -> None:
        """Say why it cannot be renamed."""
        event.stop()
        self.wants_to_save = False
        self.query_one("#plan", Static).update(
            Content.styled(f"✖ {harmless(event.message)} {harmless(event.advice)}", "$text-error")
        )

    def show_plan(self) -> None:
        """Show the files."""
        head = Content.styled(self._plan.summary(), "bold")
        files = [Content("  " + harmless(edit.path)) for edit in self._plan.changes]
        self.query_one("#plan", Static).update(lines([head, *files, "", self.shown_plan()]))

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input.id == "rename-old":
            self.screen.set_focus(self.query_one("#rename-new", Input))
        else:
            self.action_save()

    def action_save(self) -> None:
        """Rename, if there are two names and a note to change."""
        old, new = self._normalised("rename-old"), self._normalised("rename-new")
        is_nothing = not old or not new or old == new or (self._plan.is_current and not self._plan.changes)
        if is_nothing:
            self.app.bell()
        else:
            self.save()
