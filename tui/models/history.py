"""Undo and redo for the session: what was changed, in the order it was done. Pure."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vaultmem.views import Edited, Trashed


@dataclass(frozen=True, slots=True)
class Deed:
    """What a person can take back at once: its name, and the edits or the moves to the trash it is made of."""

    what: str
    edits: tuple[Edited, ...] = ()
    trashed: tuple[Trashed, ...] = ()

    def __len__(self) -> int:
        return len(self.edits) + len(self.trashed)

    def about(self, paths: Container[str]) -> Deed:
        """The part of it that concerns these notes."""
        edits = tuple(edit for edit in self.edits if edit.path in paths)
        return replace(self, edits=edits, trashed=tuple(each for each in self.trashed if each.path in paths))


@dataclass(slots=True)
class History:
    """What can be undone and redone. A new deed ends what could be redone."""

    done: list[Deed] = field(default_factory=list)
    undone: list[Deed] = field(default_factory=list)

    def add(self, deed: Deed) -> None:
        """A person changed something."""
        if len(deed):
            self.done.append(deed)
            self.undone.clear()

    def take_undo(self) -> Deed | None:
        """The deed to take back next; it leaves the history until it is known what became of it."""
        return self.done.pop() if self.done else None

    def add_undone(self, deed: Deed) -> None:
        """A deed was taken back, as far as it says: it can be done again."""
        if len(deed):
            self.undone.append(deed)

    def take_redo(self) -> Deed | None:
        """The deed to do again next; it leaves the history until it is known what became of it."""
        return self.undone.pop() if self.undone else None

    def add_redone(self, deed: Deed) -> None:
        """A deed was done again, as far as it says: it can be taken back."""
        if len(deed):
            self.done.append(deed)
