"""The main screen: header, five tabs, keys. It reads the engine and hands the answers down to the tabs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.signal import Signal
from textual.timer import Timer
from textual.widgets import ContentSwitcher, Tab, Tabs

from tui.asking import error_text
from tui.looks.formatting import MUTED
from tui.messages import (
    ActivityRead,
    CallFailed,
    DiagnosticsAsked,
    DiagnosticsRead,
    FreshnessRead,
    FreshnessUnknown,
    NotesRead,
    StatusRead,
    TagAsked,
)
from tui.models.preview import Settings
from tui.models.shelf import Shelf
from tui.panes.overview import OverviewPane
from tui.panes.pane import Pane
from tui.reader import Reader
from tui.widgets.key_bar import KeyBar
from tui.widgets.top_bar import Facts, TopBar
from vaultmem.events import (
    CachesChanged,
    EmbeddingProgress,
    EngineFailed,
    EngineRecovered,
    Event,
    LockChanged,
    SyncFinished,
)
from vaultmem.notes.diagnostics import Diagnostic
from vaultmem.text.amounts import count
from vaultmem.views import EngineStatus, Freshness

if TYPE_CHECKING:
    from tui.panes.activity import ActivityPane
    from tui.panes.diagnostics import DiagnosticsPane
    from tui.panes.memories import MemoriesPane

TABS = ("overview", "diagnostics", "recall", "memories", "activity")
TICK_S = 1.0
BUSY_TICKS, IDLE_TICKS = 5, 30
"""How many ticks lie between two looks at the status; what happens in between is told by events."""


class DashboardScreen(Screen[None]):
    """The switchboard between the engine's answers and the tabs."""

    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-narrow"),
        (100, "-normal"),
        (150, "-broad"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-low"),
        (30, "-tall"),
        (46, "-high"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(at), f"tab('{tab}')", tab.capitalize(), show=False) for at, tab in enumerate(TABS, 1)),
        *(
            Binding(f"f{at}", f"tab('{tab}')", "Tabs", show=at == 1, key_display=f"f1–f{len(TABS)}")
            for at, tab in enumerate(TABS, 1)
        ),
        Binding("escape", "back", "To the list", key_display="esc"),
    ]

    def __init__(
        self,
        facts: Facts,
        settings: Settings,
        clock: Callable[[], datetime],
        stopwatch: Callable[[], float],
    ) -> None:
        super().__init__()
        self._facts, self._settings = facts, settings
        self._clock, self._stopwatch = clock, stopwatch
        self._scanned_at: datetime | None = None
        self._ticks = 0
        self.is_complete = False
        self._wanted_tab = ""
        self._shelf: Shelf | None = None
        self._diagnostics: tuple[Diagnostic, ...] | None = None
        self._timer: Timer | None = None
        self._failed = ""
        self._reader = Reader(self)
        self.shelf_read: Signal[Shelf] = Signal(self, "shelf_read")
        """Tells an open dialog that the notes are others."""

    def compose(self) -> ComposeResult:
        """Header, tabs, the chosen one, keys."""
        yield TopBar(id="top-bar")
        yield Tabs(*(Tab(_tab_label(at, tab), id=f"tab-{tab}") for at, tab in enumerate(TABS, 1)), id="tabs")
        with ContentSwitcher(initial="overview-pane", id="panes"):
            yield OverviewPane(id="overview-pane")
        yield KeyBar()

    def on_mount(self) -> None:
        """Begin the clock."""
        self.query_one(TopBar).facts = self._facts
        self._timer = self.set_interval(TICK_S, self._tick)
        self.pane("overview").enter()

    async def complete(self) -> None:
        """Build the tabs that the first paint does not show. Before it, only Overview is there."""
        from tui.panes.activity import ActivityPane
        from tui.panes.diagnostics import DiagnosticsPane
        from tui.panes.memories import MemoriesPane
        from tui.panes.recall import RecallPane

        panes: list[Pane] = [
            DiagnosticsPane(id="diagnostics-pane"),
            RecallPane(id="recall-pane", settings=self._settings, stopwatch=self._stopwatch),
            MemoriesPane(id="memories-pane"),
            ActivityPane(id="activity-pane"),
        ]
        for pane in panes:
            pane.display = False
        await self.query_one("#panes").mount_all(panes)
        self.is_complete = True
        if self._wanted_tab:
            self.action_tab(self._wanted_tab)

    def pane(self, tab: str) -> Pane:
        """The tab's content."""
        return cast(Pane, self.query_one(f"#{tab}-pane"))

    @property
    def shelf(self) -> Shelf:
        """The notes as they were read last."""
        return self._shelf or Shelf()

    # --- reading the engine

    def read_all(self) -> None:
        """Ask for everything that is shown, one after the other: the notes at once, the others when they are there.

        So the first sight of a large vault waits for nothing but its notes; the status, which may have to open the
        stores, comes last.
        """
        bar = self.query_one(TopBar)
        if bar.facts.state == "starting":
            bar.update(state="scanning")
        self._reader.read(
            "reading the notes", lambda engine: engine.notes(), lambda notes: NotesRead(Shelf.of(notes))
        )
        self.read_freshness()

    def read_diagnostics(self) -> None:
        """Ask what is wrong."""
        self._reader.read("reading the diagnostics", lambda engine: engine.diagnostics(), DiagnosticsRead)

    def read_activity(self) -> None:
        """Ask what happened before."""
        self._reader.read("reading the activity", lambda engine: engine.activity(), ActivityRead)

    def read_status(self) -> None:
        """Ask how the engine is."""
        self._reader.read("reading the status", lambda engine: engine.status(), StatusRead)

    def read_freshness(self) -> None:
        """Ask how fresh the answers are, and who writes."""
        self._reader.read(
            "reading the freshness",
            lambda engine: (engine.freshness, engine.is_writer),
            lambda read: FreshnessRead(*read),
            # before the first scan there is nothing to say
            on_error=lambda error: FreshnessUnknown(error_text(error)),
        )

    def _tick(self) -> None:
        self._ticks += 1
        self._show_age()
        self.read_freshness()
        is_busy = self.query_one(TopBar).facts.state != "idle"
        if self._shelf is not None and self._ticks % (BUSY_TICKS if is_busy else IDLE_TICKS) == 0:
            self.read_status()

    def _show_age(self) -> None:
        if self._scanned_at is not None:
            age = max(0.0, (self._clock() - self._scanned_at).total_seconds())
            self.query_one(TopBar).update(age_s=age)

    # --- answers

    def on_status_read(self, event: StatusRead) -> None:
        """Show how the engine is."""
        event.stop()
        self._reader.arrived("reading the status")
        self._show_state(event.status)
        cast("OverviewPane", self.pane("overview")).show_status(event.status)

    def _show_state(self, status: EngineStatus) -> None:
        bar = self.query_one(TopBar)
        state = status.state
        if state == "idle" and (self._failed or self._reader.failed):
            state = "error" if self._reader.failed else "degraded"
        if bar.facts.total and status.state != "embedding":
            bar.update(done=0, total=0, seconds_left=None)
        bar.update(state=state)

    def on_freshness_read(self, event: FreshnessRead) -> None:
        """Show the age, and who writes. Beside another writer a new scan may mean other notes."""
        event.stop()
        self._reader.arrived("reading the freshness")
        self._show_freshness(event.freshness, event.is_writer)

    def on_freshness_unknown(self, event: FreshnessUnknown) -> None:
        """Ask again at the next tick."""
        event.stop()
        self._reader.arrived("reading the freshness")

    def _show_freshness(self, freshness: Freshness, is_writer: bool) -> None:
        is_other = freshness.scanned_at != self._scanned_at and self._scanned_at is not None
        self._scanned_at = freshness.scanned_at
        self.query_one(TopBar).update(
            is_writer=is_writer,
            writer_pid=None if is_writer else freshness.writer_pid,
            stale_notes=freshness.stale_notes,
        )
        self._show_age()
        if is_other and not is_writer:
            self.read_all()

    def on_notes_read(self, event: NotesRead) -> None:
        """Hand the notes down, if they are others."""
        event.stop()
        self._reader.arrived("reading the notes")
        self.read_diagnostics()
        if self._shelf is not None and self._shelf.notes == event.shelf.notes:
            return
        self._shelf = event.shelf
        for tab in TABS:
            self.pane(tab).show_shelf(event.shelf)
        cast("OverviewPane", self.pane("overview")).show_weeks(self._clock().date())
        self._label("memories", len(event.shelf.notes))
        self.shelf_read.publish(event.shelf)

    def on_diagnostics_read(self, event: DiagnosticsRead) -> None:
        """Hand the diagnostics down, if they are others."""
        event.stop()
        self._reader.arrived("reading the diagnostics")
        self.read_status()
        if self._diagnostics == event.diagnostics:
            return
        self._diagnostics = event.diagnostics
        cast("OverviewPane", self.pane("overview")).show_diagnostics(event.diagnostics)
        cast("DiagnosticsPane", self.pane("diagnostics")).show_diagnostics(event.diagnostics)
        self._label("diagnostics", sum(str(each.severity) != "info" for each in event.diagnostics))

    def on_activity_read(self, event: ActivityRead) -> None:
        """Show the past."""
        event.stop()
        self._reader.arrived("reading the activity")
        self._show_events(event.events)

    def _label(self, tab: str, number: int) -> None:
        self.query_one(f"#tab-{tab}", Tab).label = _tab_label(TABS.index(tab) + 1, tab, number)

    def on_call_failed(self, event: CallFailed) -> None:
        """The app says it; the header shows that not all is well until the next answer."""
        self._reader.arrived(event.what, is_failure=True)
        self.query_one(TopBar).update(state="error")
        if event.what == "reading the notes":
            self.read_diagnostics()
        elif event.what == "reading the diagnostics":
            self.read_status()

    # --- events

    def tell(self, events: Sequence[Event]) -> None:
        """The engine told something: show it, and read again what it concerns."""
        self._show_events(events)
        for event in events:
            self._take(event)
        if any(isinstance(event, SyncFinished | CachesChanged) for event in events):
            self.read_all()
        elif not all(isinstance(event, EmbeddingProgress) for event in events):
            self.read_status()

    def _show_events(self, events: Sequence[Event]) -> None:
        activity = cast("ActivityPane", self.pane("activity"))
        activity.add([event for event in events if not isinstance(event, EmbeddingProgress | CachesChanged)])
        cast("OverviewPane", self.pane("overview")).show_syncs(activity.syncs)

    def _take(self, event: Event) -> None:
        bar = self.query_one(TopBar)
        if isinstance(event, EmbeddingProgress):
            is_done = event.done >= event.total
            total = 0 if is_done else event.total
            bar.update(done=event.done, total=total, seconds_left=event.seconds_left)
            cast("OverviewPane", self.pane("overview")).show_pending(event.total - event.done)
            bar.update(state="idle" if is_done else "embedding")
        elif isinstance(event, EngineFailed):
            self._failed = event.message
            bar.update(state="degraded", total=0)
        elif isinstance(event, EngineRecovered):
            self._failed = ""
        elif isinstance(event, LockChanged):
            bar.update(is_writer=event.is_writer, writer_pid=event.pid)

    # --- tabs

    def action_tab(self, tab: str) -> None:
        """Go to a tab."""
        if not self.is_complete:
            self._wanted_tab = tab
            return
        self.query_one(Tabs).active = f"tab-{tab}"
        self._enter(tab)

    @on(Tabs.TabActivated)
    def _tab_activated(self, event: Tabs.TabActivated) -> None:
        event.stop()
        switcher = self.query_one("#panes", ContentSwitcher)
        tab = (event.tab.id or "").removeprefix("tab-")
        if not self.is_complete:
            self._wanted_tab = tab
        elif switcher.current != f"{tab}-pane":
            self._enter(tab)

    def action_back(self) -> None:
        """From the tabs to the list of the chosen one."""
        current = self.query_one("#panes", ContentSwitcher).current or "overview-pane"
        cast(Pane, self.query_one(f"#{current}")).action_back()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The tabs themselves can be left; what lies in a tab has its own way back."""
        return isinstance(self.focused, Tabs) if action == "back" else True

    def _enter(self, tab: str) -> None:
        self.query_one("#panes", ContentSwitcher).current = f"{tab}-pane"
        self.pane(tab).enter()

    def on_diagnostics_asked(self, event: DiagnosticsAsked) -> None:
        """Go to the diagnostics of one severity."""
        event.stop()
        cast("DiagnosticsPane", self.pane("diagnostics")).show_only(event.severity, event.text)
        self.action_tab("diagnostics")

    def on_tag_asked(self, event: TagAsked) -> None:
        """Go to the memories with a tag."""
        event.stop()
        cast("MemoriesPane", self.pane("memories")).show_tag(event.tag)
        self.action_tab("memories")

    def show_scanning(self) -> None:
        """A person asked for a look at the folder."""
        self.query_one(TopBar).update(state="scanning")


def _tab_label(number: int, tab: str, items: int = 0) -> Content:
    badge = f" {count(items)}" if items else ""
    return Content.assemble((f"{number} ", MUTED), tab.capitalize(), (badge, "$text-accent"))
