"""Undo and redo for the session: what was changed, in the order it was done. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vaultmem.views import Edited, Trashed


@dataclass(frozen=True, slots=True)
class Change:
    """One step a person can take back: what it was called, and the edits or the moves to the trash it is made of."""

    what: str
    edits: tuple[Edited, ...] = ()
    trashed: tuple[Trashed, ...] = ()

    def __len__(self) -> int:
        return len(self.edits) + len(self.trashed)


@dataclass(slots=True)
class History:
    """What can be undone and redone. A new change ends what could be redone."""

    done: list[Change] = field(default_factory=list)
    undone: list[Change] = field(default_factory=list)

    def add(self, change: Change) -> None:
        """A person changed something."""
        if len(change):
            self.done.append(change)
            self.undone.clear()

    def take_undo(self) -> Change | None:
        """The change to take back next; it leaves the history until it is known what became of it."""
        return self.done.pop() if self.done else None

    def take_redo(self) -> Change | None:
        """The change to do again next; it leaves the history until it is known what became of it."""
        return self.undone.pop() if self.undone else None
