"""The chosen finding: what is wrong, the fix, its keys, and its place in the note."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from tui.asking import ask, error_text
from tui.host import host
from tui.looks.formatting import MUTED, lines
from tui.looks.signs import SEVERITIES, sign, title
from tui.messages import NoteNotRead, NoteRead
from tui.models.findings import Finding, Fix, Group, fixes_for
from tui.panes.pane import READ_DELAY_S
from tui.widgets.source import Source
from vaultmem.text.amounts import count
from vaultmem.text.shown import harmless


class FindingView(Vertical):
    """Shows a finding, or a group of them; the note is read once the cursor rests."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._finding: Finding | None = None
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """The note fills what the words leave."""
        yield Static("", id="finding-facts")
        yield Static("", id="finding-fix")
        yield Static("", id="finding-keys")
        yield Source(id="finding-source")

    def show(self, found: Group | Finding | None) -> None:
        """Show it; nothing for None."""
        self._finding = found if isinstance(found, Finding) else None
        if self._timer is not None:
            self._timer.stop()
        facts = fix = keys = Content("")
        if isinstance(found, Finding):
            facts, fix = _finding_facts(found), Content.assemble(("→ ", "$text-success"), harmless(found.fix))
            keys = keys if host(self).is_read_only else _fix_keys(found)
            self._timer = self.set_timer(READ_DELAY_S, self._read_source)
        else:
            facts = _group_facts(found) if found is not None else facts
            self.query_one(Source).clear()
        self.query_one("#finding-facts", Static).update(facts)
        self.query_one("#finding-fix", Static).update(fix)
        self.query_one("#finding-keys", Static).update(keys)

    def _read_source(self) -> None:
        if self._finding is None or not self._finding.path:
            self.query_one(Source).clear()
            return
        path = self._finding.path
        ask(
            self,
            lambda engine: engine.read_note(path),
            NoteRead,
            what="reading the note",
            on_error=lambda error: NoteNotRead(path, error_text(error)),
        )

    def on_note_read(self, event: NoteRead) -> None:
        """Show the note's text with the line with the problem marked."""
        event.stop()
        finding = self._finding
        if finding is not None and finding.path == event.note.path:
            self.query_one(Source).show(
                event.note.text, finding.line, finding.column, harmless(finding.message)
            )

    def on_note_not_read(self, event: NoteNotRead) -> None:
        """Say why its text cannot be shown."""
        event.stop()
        if self._finding is not None and self._finding.path == event.path:
            self.query_one(Source).show(f"✖ {event.message}", None, None, "")


def _group_facts(group: Group) -> Content:
    keys = "enter folds and unfolds; A marks all of them, then the keys below act on every marked note"
    head = Content.assemble((title(group.code), "bold"), f"  {count(group.count)}")
    return lines([head, Content.styled(keys, MUTED)])


def _finding_facts(finding: Finding) -> Content:
    mark = sign(SEVERITIES, finding.severity)
    place = harmless(finding.path) + (f":{finding.line}" if finding.line else "")
    place += f":{finding.column}" if finding.line and finding.column else ""
    shown = [
        Content.assemble(
            (mark.glyph, mark.style), " ", (title(finding.code), "bold"), (f"  {mark.word}", mark.style)
        ),
        Content.styled(place, MUTED),
        Content(harmless(finding.message)),
    ]
    return lines(shown)


def _fix_keys(finding: Finding) -> Content:
    keys = [_fix(fix, is_first=not at) for at, fix in enumerate(fixes_for(finding.code))]
    return Content("   ").join(keys)


def _fix(fix: Fix, *, is_first: bool) -> Content:
    keys = f"{fix.key} ⏎".strip() if is_first else fix.key
    return Content.assemble((keys, "bold $text-accent"), f"\u00a0{fix.label.replace(' ', chr(0xA0))}")
