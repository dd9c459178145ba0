"""A plan of edits that a person sees before it is carried out, bound to the notes as they were at first. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui.formatting import counted, plain

if TYPE_CHECKING:
    from tui.messages import EditsPlanned
    from vaultmem.views import Edited


@dataclass(slots=True)
class Plan:
    """The newest plan. Files are remembered as they were in the first one: a change outside ends the plan."""

    edits: tuple[Edited, ...] = ()
    refusals: dict[str, str] = field(default_factory=dict)
    asked: int = 1
    """Number of the plan that is wanted now."""
    answered: int = 0
    _bound: dict[str, bytes] = field(default_factory=dict)

    def outdate(self) -> None:
        """What is wanted changed: a plan that is under way is not the one any more."""
        self.asked += 1

    def take(self, planned: EditsPlanned) -> bool:
        """A plan came back; False for one that is out of date by now."""
        if planned.number != self.asked:
            return False
        self.answered = planned.number
        self.edits, self.refusals = planned.edits, dict(planned.refusals)
        for edit in planned.edits:
            before = self._bound.setdefault(edit.path, edit.before)
            if before != edit.before:
                self.refusals[edit.path] = "changed outside since this was opened; look at it again first"
        return True

    @property
    def is_current(self) -> bool:
        """The plan is that of what was asked last."""
        return self.answered == self.asked

    @property
    def changes(self) -> tuple[Edited, ...]:
        """The edits that change something and are not refused."""
        return tuple(edit for edit in self.edits if edit.changed and edit.path not in self.refusals)

    def complaint(self) -> str:
        """Why the plan cannot be carried out as a whole; empty when nothing is refused."""
        return "\n".join(f"✖ {plain(path)}: {plain(reason)}" for path, reason in self.refusals.items())

    def summary(self) -> str:
        """How many notes change, and how many are refused."""
        told = counted(len(self.changes), "note") + " will change" if self.changes else "nothing changes"
        return told + (f", {len(self.refusals)} refused" if self.refusals else "")
