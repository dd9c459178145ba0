"""What dialogs have in common that change notes: the change is shown before it is made, and a draft is never lost.

A draft becomes a plan of edits. The plan is bound to the notes as they were when it was shown: a note that changes
outside meanwhile gets a new plan, shown with a line that says so, and nothing is written before that was on the
screen: an Enter that was pressed before it is no answer to it. The dialog closes when everything is written; what
could not be written stays, with its reason.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.timer import Timer

from tui.asking import ask, for_each
from tui.dialogs.dialog import Dialog
from tui.host import host
from tui.looks.formatting import MUTED, diff_lines, lines
from tui.messages import Changed, EditsPlanned, EditsWritten
from tui.models.edit_plan import EditPlan
from tui.models.history import Deed
from vaultmem.text.shown import harmless

if TYPE_CHECKING:
    from tui.models.shelf import Shelf
    from vaultmem.views import Edited

MOST_DIFFS = 40


class PlannedDialog(Dialog[None]):
    """Its answer is that it is done; the change itself went to the app, for undo."""

    PLAN_DELAY_S: ClassVar[float] = 0.1

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what
        self._plan = EditPlan()
        self._timer: Timer | None = None
        self._is_writing = False
        self._is_undrawn = False
        self.wants_to_save = False

    def on_mount(self) -> None:
        """Follow what becomes of the notes."""
        host(self).shelf_read.subscribe(self, self._notes_read)

    def on_unmount(self) -> None:
        """Stop following."""
        host(self).shelf_read.unsubscribe(self)

    # --- what each of them does in its own way

    @abstractmethod
    def plan_edits(self) -> None:
        """Ask the engine for the plan of what is wanted now; an `EditsPlanned` comes back."""

    @abstractmethod
    def show_plan(self) -> None:
        """The plan is another one."""

    def show_notes(self, shelf: Shelf) -> None:
        """Notes changed, perhaps these."""

    # --- the plan

    def draft_changed(self) -> None:
        """A person wants something else: plan it, once they pause."""
        self.wants_to_save = False
        self._plan.outdate()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(self.PLAN_DELAY_S, self.plan_edits)

    def _notes_read(self, shelf: Shelf) -> None:
        self.show_notes(shelf)
        if not self._is_writing:
            self._plan.recheck()
            self.plan_edits()

    def on_edits_planned(self, event: EditsPlanned) -> None:
        """Show what would change. A note that changed outside has to be seen before it is saved."""
        event.stop()
        if not self._plan.take(event.number, event.edits, event.refusals):
            return
        self.show_plan()
        if self._plan.has_news:
            self.wants_to_save, self._is_undrawn = False, True
            self.call_after_refresh(self._drawn)
        if self.wants_to_save:
            self.save()

    def _drawn(self) -> None:
        self._is_undrawn = False

    def shown_plan(self) -> Content:
        """Refusals, what changed outside, and the lines that will change."""
        plan = self._plan
        parts: list[Content | str] = []
        if complaint := plan.complaint():
            parts.append(Content.styled(complaint, "$text-error"))
        for edit in plan.changes[:MOST_DIFFS]:
            if edit.path in plan.outside:
                parts.append(Content.styled(_told_outside(edit), "$text-warning"))
            parts.append(diff_lines(edit.diff))
        if len(plan.changes) > MOST_DIFFS:
            parts.append(
                Content.styled(f"… and {len(plan.changes) - MOST_DIFFS} more notes like these", MUTED)
            )
        return lines(parts)

    # --- saving

    def save(self) -> None:
        """Write the plan that is shown, once it is that of what is wanted; close when there is nothing to write."""
        if self._is_writing:
            return
        if self._is_undrawn:
            # Whoever pressed this cannot have seen the news. Asked again here: what was to be called after a drawing
            # is forgotten with a screen that lay over this one.
            self.call_after_refresh(self._drawn)
            self.app.bell()
        elif not self._plan.is_current:
            self.wants_to_save = True
            self.plan_edits()
        elif edits := {edit.path: edit for edit in self._plan.changes}:
            self._is_writing = self.wants_to_save = ask(
                self,
                lambda engine: for_each(edits, lambda path: engine.apply(edits[path], self._what)),
                lambda written: EditsWritten(tuple(edits[path] for path in written.done), written.refused),
                what="writing the edits",
                is_exclusive=False,
            )
        elif self._plan.refusals:
            self.app.bell()
        else:
            self.dismiss(None)

    def on_edits_written(self, event: EditsWritten) -> None:
        """Close; or keep the draft for the notes that were not written, with the reasons and the new plan."""
        event.stop()
        self._is_writing = self.wants_to_save = False
        if event.edits:
            self.app.post_message(Changed(Deed(self._what, event.edits), {}))
        if not event.refusals:
            self.dismiss(None)
            return
        self._plan.written(event.edits, event.refusals)
        self.show_plan()
        self.plan_edits()


def _told_outside(edit: Edited) -> str:
    return f"▲ {harmless(edit.path)} changed outside meanwhile. This is your change to its text as it is now:"
