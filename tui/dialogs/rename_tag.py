"""Rename a tag over the whole vault, or merge it into another, with a preview of the files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Static

from tui.asking import ask
from tui.dialogs.dialog import Dialog
from tui.formatting import count, counted, diff_lines, lines, plain
from tui.messages import CallFailed, EditsPlanned
from tui.planning import Plan
from tui.tagging import completions
from tui.widgets.boxes import LineInput
from tui.widgets.key_bar import KeyBar
from tui.widgets.rows import Cells, Column, Rows
from vaultmem.views import Edited

PLAN_DELAY_S = 0.15
MOST_DIFFS = 60


class RenameTagDialog(Dialog[tuple[Edited, ...]]):
    """The answer is the planned edits of all notes that have the tag or one below it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,ctrl+s", "save", "Rename", priority=False)]

    def __init__(self, vault_tags: Mapping[str, int], tag: str = "") -> None:
        super().__init__()
        self._vault_tags, self._tag = vault_tags, tag
        self._plan = Plan()
        self._timer: Timer | None = None
        self.wants_to_save = False

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
            yield Rows(
                [Column("", 12, share=1), Column("", 8, is_right=True)], id="completions", has_header=False
            )
            with VerticalScroll(id="plan-scroll"):
                yield Static("", id="plan")
            yield KeyBar()

    def on_mount(self) -> None:
        """Begin where something is missing."""
        self.screen.set_focus(self.query_one("#rename-new" if self._tag else "#rename-old", Input))
        self._box = self.query_one("#rename-new" if self._tag else "#rename-old", Input)
        self._complete()

    def _normalised(self, box: str) -> str:
        from vaultmem.notes import normalise_tag

        return normalise_tag(self.query_one(f"#{box}", Input).value)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._box = event.input
        self.wants_to_save = False
        self._plan.outdate()
        self._complete()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(PLAN_DELAY_S, self._ask_plan)

    def _complete(self) -> None:
        from vaultmem.notes import normalise_tag

        offered = completions(normalise_tag(self._box.value), self._vault_tags, ())

        def draw(index: int) -> Cells:
            name, number = offered[index]
            return (plain(name), Content.styled(count(number), "$foreground 60%"))

        self.query_one("#completions", Rows).fill([name for name, _ in offered], draw)
        self._show_note()

    def _show_note(self) -> None:
        old, new = self._normalised("rename-old"), self._normalised("rename-new")
        known = self._vault_tags.get(new)
        if not old or not new:
            told = Content.styled("both names are needed; tags below it (old/…) follow", "$foreground 60%")
        elif known:
            told = Content.assemble(
                (f"▲ merges #{plain(old)} into #{plain(new)}", "$text-warning"),
                (f", used {count(known)} times", "$foreground 60%"),
            )
        else:
            told = Content.assemble(
                ("→ ", "$foreground 60%"), (f"#{plain(old)} becomes #{plain(new)}", "bold")
            )
        self.query_one("#rename-note", Static).update(told)

    @on(Rows.Chosen, "#completions")
    def _completion_chosen(self, event: Rows.Chosen) -> None:
        event.stop()
        if event.key:
            self._box.value = event.key
            self.screen.set_focus(self._box)

    def _ask_plan(self) -> None:
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
            Content.styled(f"✖ {plain(event.message)} {plain(event.advice)}", "$text-error")
        )

    def on_edits_planned(self, event: EditsPlanned) -> None:
        """Show the files."""
        event.stop()
        if not self._plan.take(event):
            return
        changes = self._plan.changes
        head = Content.styled(f"{counted(len(changes), 'note')} will change", "bold")
        files = [Content("  " + plain(edit.path)) for edit in changes]
        diffs = [diff_lines(edit.diff) for edit in changes[:MOST_DIFFS]]
        self.query_one("#plan", Static).update(lines([head, *files, "", *diffs]))
        if self.wants_to_save:
            self.action_save()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input.id == "rename-old":
            self.screen.set_focus(self.query_one("#rename-new", Input))
        else:
            self.action_save()

    def action_save(self) -> None:
        """Answer with the plan, once it is that of the names shown."""
        old, new = self._normalised("rename-old"), self._normalised("rename-new")
        if not old or not new or old == new:
            self.app.bell()
        elif not self._plan.is_current:
            self.wants_to_save = True
            self._ask_plan()
        elif self._plan.changes:
            self.dismiss(self._plan.changes)
        else:
            self.app.bell()
