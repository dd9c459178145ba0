"""Activity: what the engine did and when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from tui.looks.formatting import MUTED, clock_time, lines, moment
from tui.models.activity import KINDS, ActivityLine, activity_line
from tui.panes.pane import BACK, Pane
from tui.widgets.columns import Cells, Column
from tui.widgets.filter_bar import FilterBar
from tui.widgets.rows import Rows
from vaultmem.events import Event, SyncFinished
from vaultmem.text.shown import harmless

MOST_EVENTS = 2_000
MOST_SYNCS = 20


class ActivityPane(Pane):
    """The events, newest first, by text and kind."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("s", "kind", "Kind"),
        BACK,
        Binding("escape", "clear", "Clear filter", show=False),
    ]
    LIST = "#activity-rows"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._lines: list[ActivityLine] = []
        self._syncs: list[SyncFinished] = []
        self._seen: set[tuple[type, datetime]] = set()
        self._number = 0
        self._kind = ""
        self._shown: list[ActivityLine] = []

    def compose(self) -> ComposeResult:
        """A filter, the events, the chosen one's details."""
        yield FilterBar("filter what happened", id="activity-filter")
        yield Rows(
            [Column("time", 8), Column("what", 12), Column("", 20, share=1)],
            id="activity-rows",
            empty="nothing has happened yet",
        )
        yield Static("", id="activity-detail")

    def add(self, events: Sequence[Event]) -> None:
        """The engine told more."""
        fresh = [event for event in events if (type(event), event.at) not in self._seen]
        for event in fresh:
            self._number += 1
            self._seen.add((type(event), event.at))
            self._lines.append(activity_line(event, self._number))
        self._syncs += [event for event in fresh if isinstance(event, SyncFinished)]
        self._lines = sorted(self._lines, key=lambda each: each.at)[-MOST_EVENTS:]
        self._syncs = sorted(self._syncs, key=lambda each: each.at)[-MOST_SYNCS:]
        if fresh:
            self._fill()

    @property
    def syncs(self) -> Sequence[SyncFinished]:
        """The last syncs, oldest first."""
        return self._syncs

    def _fill(self) -> None:
        wanted = self.query_one(FilterBar).words
        self._shown = [
            each
            for each in reversed(self._lines)
            if (not self._kind or each.kind == self._kind) and all(word in each.haystack for word in wanted)
        ]
        shown = self._shown

        def draw(index: int) -> Cells:
            each = shown[index]
            kind = KINDS[each.kind]
            return (
                clock_time(each.at),
                Content.styled(f"{kind.glyph} {kind.word}", kind.style),
                harmless(each.text),
            )

        kind = KINDS[self._kind].word if self._kind else "all kinds"
        self.query_one(FilterBar).note = f"{kind} · {len(shown)} of {len(self._lines)}"
        table = self.query_one(Rows)
        keys = [str(each.number) for each in shown]
        newest = keys[0] if keys and not table.has_focus and not table.index else None
        table.fill(keys, draw, key=newest)

    # --- a person

    def action_filter(self) -> None:
        """Type a filter."""
        self.query_one(FilterBar).start()

    def action_kind(self) -> None:
        """Show another kind of event."""
        kinds = ["", *KINDS]
        self._kind = kinds[(kinds.index(self._kind) + 1) % len(kinds)]
        self._fill()

    def action_clear(self) -> None:
        """Show everything."""
        self._kind = ""
        self.query_one(FilterBar).clear()
        self._fill()

    @on(Input.Changed)
    def _filter_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._fill()

    @on(FilterBar.Left)
    def _filter_left(self, event: FilterBar.Left) -> None:
        event.stop()
        self.action_back()

    @on(Rows.Moved)
    def _moved(self, event: Rows.Moved) -> None:
        event.stop()
        chosen = next((each for each in self._shown if str(each.number) == event.key), None)
        self.query_one("#activity-detail", Static).update(_detail(chosen) if chosen else Content(""))


def _detail(chosen: ActivityLine) -> Content:
    head = Content.assemble((moment(chosen.at), MUTED), "  ", (harmless(chosen.text), "bold"))
    return lines([head, *(Content.styled("  " + harmless(line), MUTED) for line in chosen.details)])
