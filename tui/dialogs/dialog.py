"""What dialogs have in common: escape answers no, and they fit any window."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

T = TypeVar("T")


class Dialog(ModalScreen[T | None], Generic[T]):
    """A question; None is the answer of a person who changed their mind."""

    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel")]

    def action_cancel(self) -> None:
        """Answer nothing."""
        self.dismiss(None)
