"""A list of what was refused, or found, with the reasons; nothing is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.dialogs.dialog import Dialog
from tui.looks.formatting import MUTED, lines
from tui.widgets.key_bar import KeyBar
from vaultmem.text.shown import harmless
from vaultmem.views import DoctorReport


class ToldDialog(Dialog[None]):
    """A title and paragraphs to read."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Close"),
        Binding("enter,q", "cancel", "Close", show=False),
    ]

    def __init__(self, title: str, paragraphs: Sequence[Content]) -> None:
        super().__init__()
        self._title, self._paragraphs = title, paragraphs

    def compose(self) -> ComposeResult:
        """Title and text."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            with VerticalScroll(classes="dialog-list"):
                yield Static(lines(self._paragraphs))
            yield KeyBar()


def checks_dialog(report: DoctorReport) -> ToldDialog:
    """The checks of the caches, each with its sign."""
    told = [
        Content.assemble(
            ("✔ ", "$text-success") if check.ok else ("✖ ", "$text-error"),
            (harmless(check.name), "bold"),
            (f"  {harmless(check.detail)}", MUTED),
        )
        for check in report.checks
    ]
    verb = "agree" if report.caches_agree else "disagree"
    return ToldDialog(f"The caches {verb} with the notes", told)
