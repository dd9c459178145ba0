"""Overview: is the memory healthy and fresh, at a glance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.looks.formatting import MUTED, bar, clock_time, lines
from tui.looks.signs import SEVERITIES, sign, title
from tui.messages import DiagnosticsAsked, TagAsked
from tui.models.activity import sync_counts
from tui.models.findings import SEVERITY_ORDER
from tui.models.shelf import made, per_week
from tui.panes.pane import Pane
from tui.widgets.columns import Cells, Column
from tui.widgets.rows import Rows
from tui.widgets.tile import Tile
from tui.widgets.week_plot import WeekPlot
from vaultmem.events import SyncFinished
from vaultmem.notes.diagnostics import Diagnostic
from vaultmem.text.amounts import count, counted, size
from vaultmem.text.shown import harmless
from vaultmem.views import EngineStatus

WEEKS = 26
WEEKS_TITLE = "Memories per week"
TILES = {
    "notes": "notes",
    "memories": "memories",
    "deprecated": "deprecated",
    "conflicts": "in conflict",
    "pending": "pending vectors",
}


class OverviewPane(Pane):
    """Counts, severities, weeks, tags, the engine, the last syncs. The severities are what a person acts on."""

    LIST = "#severities"

    def compose(self) -> ComposeResult:
        """Tiles over cards."""
        with VerticalScroll(id="overview-scroll", can_focus=False):
            with Horizontal(id="tiles"):
                for key, label in TILES.items():
                    yield Tile(label, id=f"tile-{key}")
            yield Static("", id="overview-notice")
            with Horizontal(classes="cards"):
                with Vertical(classes="card"):
                    yield Static("Needs attention", classes="card-title")
                    yield Rows(
                        [Column("", 14, share=2), Column("", 6, share=3), Column("", 5, is_right=True)],
                        id="severities",
                        has_header=False,
                    )
                with Vertical(classes="card"):
                    yield Static(WEEKS_TITLE, classes="card-title", id="weeks-title")
                    yield WeekPlot(id="weeks")
            with Horizontal(classes="cards"):
                with Vertical(classes="card"):
                    yield Static("Tags by use", classes="card-title")
                    yield Rows(
                        [Column("", 14, share=2), Column("", 6, share=3), Column("", 5, is_right=True)],
                        id="top-tags",
                        has_header=False,
                        empty="no tags yet",
                    )
                with Vertical(classes="card", id="engine-and-syncs"):
                    yield Static("Engine", classes="card-title")
                    yield Static("", id="engine-facts")
                    yield Static("Last syncs", classes="card-title -second")
                    yield Static("", id="last-syncs")

    # --- data

    def shelf_changed(self) -> None:
        """Count what is on the shelf."""
        notes = self.shelf.notes
        numbers = {
            "notes": len(notes),
            "memories": sum(note.admitted for note in notes),
            "deprecated": sum(note.status == "deprecated" for note in notes),
            "conflicts": sum(note.in_conflict for note in notes),
            "pending": sum(note.is_pending for note in notes),
        }
        for key, number in numbers.items():
            self.query_one(f"#tile-{key}", Tile).show(number, is_alarming=key == "conflicts" and number > 0)
        self._show_tags(self.shelf.tag_uses)

    def show_pending(self, number: int) -> None:
        """Vectors are being filled in: so many notes wait."""
        self.query_one("#tile-pending", Tile).show(number)

    def show_status(self, status: EngineStatus) -> None:
        """Fill the engine's card."""
        self.query_one("#engine-facts", Static).update(_engine(status))
        self.query_one("#overview-notice", Static).update(_notice(status))
        self.query_one("#overview-notice").display = bool(_notice(status))

    def show_diagnostics(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Fill the severity bars: each as long as its share of all diagnostics."""
        counts = Counter(str(each.severity) for each in diagnostics)
        codes = Counter((str(each.code), str(each.severity)) for each in diagnostics)
        frequent = sorted(codes, key=lambda pair: (SEVERITY_ORDER.index(pair[1]), -codes[pair], pair[0]))
        most = max(counts.values(), default=0)
        keys = [*SEVERITIES, *(f"code:{code}" for code, _ in frequent)]

        def draw(index: int) -> Cells:
            is_code = index >= len(SEVERITIES)
            code, severity = frequent[index - len(SEVERITIES)] if is_code else ("", keys[index])
            mark, number = sign(SEVERITIES, severity), codes[code, severity] if is_code else counts[severity]
            label = f"  {title(code)}" if is_code else str(mark)
            style = "$foreground 70%" if is_code else mark.style
            return (
                Content.styled(label, style),
                lambda width: bar(number / most if most else 0.0, width, style),
                count(number),
            )

        self.query_one("#severities", Rows).fill(keys, draw)

    def _show_tags(self, tags: Mapping[str, int]) -> None:
        ordered = sorted(tags.items(), key=lambda pair: (-pair[1], pair[0]))[:50]
        most = max(tags.values(), default=1)

        def draw(index: int) -> Cells:
            tag, number = ordered[index]
            return (harmless(tag), lambda width: bar(number / most, width, "$secondary"), count(number))

        self.query_one("#top-tags", Rows).fill([tag for tag, _ in ordered], draw)

    def show_weeks(self, today: date) -> None:
        """Plot the weeks up to `today`."""
        self.query_one(WeekPlot).show(per_week(self.shelf.notes, today, WEEKS))
        undated = sum(made(note) is None for note in self.shelf.notes)
        told = f"  {count(undated)} without a date" if undated else ""
        title = Content.assemble(WEEKS_TITLE, (told, f"not bold {MUTED}"))
        self.query_one("#weeks-title", Static).update(title)

    def show_syncs(self, syncs: Sequence[SyncFinished]) -> None:
        """List the last syncs, newest first."""
        told = [_sync(event) for event in reversed(syncs[-4:])]
        empty = Content.styled("none since the dashboard was opened", MUTED)
        self.query_one("#last-syncs", Static).update(lines(told) if told else empty)

    # --- a person

    @on(Rows.Chosen, "#severities")
    def _severity_chosen(self, event: Rows.Chosen) -> None:
        event.stop()
        key = event.key or ""
        code = key.removeprefix("code:")
        self.post_message(DiagnosticsAsked(text=code) if code != key else DiagnosticsAsked(severity=key))

    @on(Rows.Chosen, "#top-tags")
    def _tag_chosen(self, event: Rows.Chosen) -> None:
        event.stop()
        self.post_message(TagAsked(event.key or ""))


def _notice(status: EngineStatus) -> Content:
    if status.message:
        return Content.assemble(("▲ ", "$text-warning"), harmless(status.message))
    if not status.notes and status.state != "never_synced":
        return lines(
            [
                Content.styled("No notes yet", "bold"),
                Content(f"Markdown files under {harmless(status.root)} become memories"),
                Content("once they have an id and a description. `vaultmem save` writes the first one."),
            ]
        )
    return Content("")


def _engine(status: EngineStatus) -> Content:
    dense = status.dense
    model = f"{harmless(dense.model)} ({harmless(dense.engine)})" if dense.model else harmless(dense.engine)
    rows = [
        _fact("model", model),
        _fact("dense", f"{counted(dense.chunks, 'chunk')}, {size(dense.bytes)}"),
        _fact("lexical", f"{counted(status.lexical.documents, 'document')}, {size(status.lexical.bytes)}"),
        _fact("watcher", str(status.watcher)),
        _fact("folder", harmless(status.root)),
        _fact("caches", harmless(status.state_dir)),
    ]
    if dense.note:
        rows.insert(1, Content.assemble("         ", (harmless(dense.note), "$text-warning")))
    return lines(rows)


def _fact(label: str, value: str) -> Content:
    return Content.assemble((f"{label:<9}", MUTED), value)


def _sync(event: SyncFinished) -> Content:
    return Content.assemble((clock_time(event.at), MUTED), "  ", sync_counts(event.report))
