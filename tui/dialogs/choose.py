"""One of several, found by typing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from tui.dialogs.dialog import Dialog
from tui.looks.formatting import MUTED
from tui.widgets.columns import Cells, Column
from tui.widgets.filter_bar import FilterBar
from tui.widgets.key_bar import KeyBar
from tui.widgets.rows import Rows
from vaultmem.text.amounts import count
from vaultmem.text.shown import harmless


@dataclass(frozen=True, slots=True)
class Choice:
    """What can be chosen: the answer, its words, how many it holds."""

    value: str
    label: str
    number: int


class ChooseDialog(Dialog[str]):
    """Type to narrow the list, Enter takes the one under the cursor."""

    def __init__(self, title: str, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._title, self._choices = title, choices
        self._shown: list[Choice] = list(choices)

    def compose(self) -> ComposeResult:
        """Title, filter, list."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield FilterBar("type to narrow", id="choose-filter")
            yield Rows(
                [Column("", 12, share=1), Column("", 7, is_right=True)],
                id="choices",
                has_header=False,
                empty="nothing matches",
            )
            yield KeyBar()

    def on_mount(self) -> None:
        """All choices, the first under the cursor."""
        self._fill()
        self.screen.set_focus(self.query_one(Rows))

    def _fill(self) -> None:
        wanted = self.query_one(FilterBar).words
        self._shown = [
            each for each in self._choices if all(word in each.label.casefold() for word in wanted)
        ]
        shown = self._shown

        def draw(index: int) -> Cells:
            return (harmless(shown[index].label), Content.styled(count(shown[index].number), MUTED))

        self.query_one(Rows).fill([each.value for each in shown], draw)

    def on_key(self, event: object) -> None:
        """A letter typed on the list begins the filter."""
        from textual.events import Key

        if (
            isinstance(event, Key)
            and event.character
            and event.character.isprintable()
            and event.key != "space"
        ):
            box = self.query_one(Input)
            if not box.has_focus:
                event.stop()
                self.screen.set_focus(box)
                box.insert_text_at_cursor(event.character)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._fill()

    @on(FilterBar.Left)
    def _left(self, event: FilterBar.Left) -> None:
        event.stop()
        self.screen.set_focus(self.query_one(Rows))

    @on(Rows.Chosen)
    def _chosen(self, event: Rows.Chosen) -> None:
        event.stop()
        self.dismiss(event.key)
