"""A count as a big, calm number with its word below."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Digits, Static

from vaultmem.text.amounts import count


class Tile(Vertical):
    """One number. Alarming numbers also carry a sign, not only a colour."""

    def __init__(self, label: str, *, id: str) -> None:
        super().__init__(id=id)
        self.label = label

    def compose(self) -> ComposeResult:
        """The number large and small (small windows show the small one) and its word."""
        yield Digits("–", classes="tile-large")
        yield Static("–", classes="tile-small", markup=False)
        yield Static(self.label, classes="tile-label", markup=False)

    def show(self, number: int, *, is_alarming: bool = False) -> None:
        """Set the number."""
        self.query_one(Digits).update(count(number))
        self.query_one(".tile-small", Static).update(count(number))
        self.query_one(".tile-label", Static).update(("✖ " if is_alarming else "") + self.label)
        self.set_class(is_alarming, "-alarming")
