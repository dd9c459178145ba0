"""Diagnostics: what is wrong with the notes, by code, with the fixes as keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Input

from tui.dialogs.choose import Choice, ChooseDialog
from tui.looks.formatting import MUTED
from tui.looks.signs import SEVERITIES, sign, title
from tui.messages import StatusAsked
from tui.models.findings import Finding, Findings, Group, fixes_for
from tui.panes.finding_view import FindingView
from tui.panes.pane import BACK, NotePane
from tui.widgets.columns import Cells, Column
from tui.widgets.filter_bar import FilterBar
from tui.widgets.rows import Rows
from vaultmem.notes.diagnostics import Diagnostic
from vaultmem.notes.metadata import Status
from vaultmem.text.amounts import count
from vaultmem.text.shown import harmless
from vaultmem.views import NoteView


class DiagnosticsPane(NotePane):
    """The findings in groups, the chosen one with its place in the note."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("s", "severity", "Severity"),
        Binding("f", "folder", "Folder"),
        Binding("A", "mark_all", "Mark all", show=False),
        Binding("left", "fold", "Fold", show=False),
        Binding("right", "unfold", "Unfold", show=False),
        BACK,
        Binding("escape", "clear", "Clear filter and marks", show=False),
    ]
    LIST = "#findings"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._findings = Findings()
        self._drawn: list[Group | Finding] = []
        self._finding: Finding | None = None

    def compose(self) -> ComposeResult:
        """The list under its filter, beside it the chosen finding."""
        with Container(classes="split"):
            with Vertical(id="findings-list"):
                yield FilterBar("filter by text, path, id", id="findings-filter")
                yield Rows(
                    [Column("", 12, share=3), Column("", 10, share=2, needs=44)],
                    id="findings",
                    has_header=False,
                    can_mark=True,
                )
            yield FindingView(id="finding")

    # --- data

    def show_diagnostics(self, diagnostics: Sequence[Diagnostic]) -> None:
        """The findings were read anew."""
        self._findings = self._findings.with_diagnostics(diagnostics)
        self._fill()

    def show_only(self, severity: str, text: str = "") -> None:
        """Show one severity ("" for all), and what matches a text."""
        self.query_one("#findings-filter", FilterBar).value = text
        self._findings = self._findings.narrowed(severity=severity, text=text, folder="")
        self._fill()

    def shelf_changed(self) -> None:
        """The findings' names come from the notes."""
        self.query_one("#findings", Rows).refresh()

    def _fill(self) -> None:
        findings = self._findings
        self._drawn = findings.rows()
        drawn = self._drawn
        bar, table = self.query_one("#findings-filter", FilterBar), self.query_one("#findings", Rows)
        severity = sign(SEVERITIES, findings.severity).word + "s" if findings.severity else "all"
        folder = f" · {harmless(findings.folder)}/" if findings.folder else ""
        bar.note = f"{severity}{folder} · {count(findings.shown)} of {count(len(findings.found))}"
        table.empty = "nothing matches; esc shows all" if findings.found else "✔ every note is well"
        table.fill([each.key for each in drawn], lambda index: self._cells(drawn[index]))

    def _cells(self, each: Group | Finding) -> Cells:
        if isinstance(each, Group):
            mark = sign(SEVERITIES, each.severity)
            fold = "▸" if each.is_folded else "▾"
            return Content.assemble(
                f"{fold} ",
                (mark.glyph, mark.style),
                " ",
                (title(each.code), "bold"),
                (f"  {count(each.count)}", MUTED),
            )
        note = self.shelf.by_path.get(each.path)
        name = harmless(note.name) if note else ""
        file = each.path.rpartition("/")[2]
        return (f"  {name or harmless(file)}", Content.styled(harmless(each.path), MUTED))

    def chosen(self) -> Sequence[NoteView]:
        """The notes of the marked findings (of a marked group: all), else of the one under the cursor."""
        table = self.query_one("#findings", Rows)
        keys = set(table.chosen_keys()) if table.marked else {table.key}
        paths = dict.fromkeys(
            each.path
            for each in self._findings.visible
            if each.key in keys or (table.marked and Group.key_of(each.code) in keys)
        )
        return self.shelf.at(paths)

    def line_of(self, note: NoteView) -> int | None:
        """The line with the problem."""
        return self._finding.line if self._finding and self._finding.path == note.path else None

    # --- the chosen finding

    @on(Rows.Moved, "#findings")
    def _moved(self, event: Rows.Moved) -> None:
        event.stop()
        found = next((each for each in self._drawn if each.key == event.key), None)
        self._finding = found if isinstance(found, Finding) else None
        self.refresh_bindings()
        self.query_one(FindingView).show(found)

    # --- a person

    @on(Rows.Chosen, "#findings")
    def _row_chosen(self, event: Rows.Chosen) -> None:
        event.stop()
        if self._finding is None:
            self._fold_group(event.key or "")
            return
        self._fix(self._finding)

    def _fix(self, finding: Finding) -> None:
        """Do the first fix."""
        action = fixes_for(finding.code)[0].action
        if action == "write_active" and not self.is_read_only:
            self.post_message(StatusAsked(self._paths(), Status.ACTIVE))
        elif self.check_action(action, ()):
            getattr(self, f"action_{action}")()

    def _fold_group(self, key: str) -> None:
        self._findings = self._findings.folding(key)
        self._fill()

    def action_fold(self) -> None:
        """Close the group of the row under the cursor."""
        self._set_fold(True)

    def action_unfold(self) -> None:
        """Open the group under the cursor."""
        self._set_fold(False)

    def _set_fold(self, is_folded: bool) -> None:
        table = self.query_one("#findings", Rows)
        found = next((each for each in self._drawn if each.key == table.key), None)
        if found is None:
            return
        key = Group.key_of(found.code)
        if (key in self._findings.folded) != is_folded:
            self._fold_group(key)
            table.go_to(key)

    def action_filter(self) -> None:
        """Type a filter."""
        self.query_one("#findings-filter", FilterBar).start()

    @on(Input.Changed)
    def _filter_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._findings = self._findings.narrowed(text=event.value)
        self._fill()

    @on(FilterBar.Left)
    def _filter_left(self, event: FilterBar.Left) -> None:
        event.stop()
        self.enter()

    def action_severity(self) -> None:
        """Show the next severity only, or all again."""
        wanted = ["", *SEVERITIES]
        severity = wanted[(wanted.index(self._findings.severity) + 1) % len(wanted)]
        self._findings = self._findings.narrowed(severity=severity)
        self._fill()

    def action_folder(self) -> None:
        """Choose a folder."""
        counts = self._findings.folder_counts()
        choices = [Choice("", "every folder", len(self._findings.found))]
        choices += [Choice(folder, folder + "/", number) for folder, number in sorted(counts.items())]
        self.app.push_screen(ChooseDialog("Diagnostics in which folder?", choices), self._folder_chosen)

    def _folder_chosen(self, folder: str | None) -> None:
        if folder is not None:
            self._findings = self._findings.narrowed(folder=folder)
            self._fill()

    def action_mark_all(self) -> None:
        """Mark all findings of the code under the cursor, or none."""
        table = self.query_one("#findings", Rows)
        found = next((each for each in self._drawn if each.key == table.key), None)
        if found is None:
            return
        group = {each.key for each in self._drawn if isinstance(each, Finding) and each.code == found.code}
        if group <= table.marked:
            table.clear_marks()
        else:
            table.mark(group)

    @on(Rows.Marked, "#findings")
    def _marked(self, event: Rows.Marked) -> None:
        event.stop()
        self.refresh_bindings()

    def action_clear(self) -> None:
        """First the marks, then the filters."""
        table = self.query_one("#findings", Rows)
        if table.marked:
            table.clear_marks()
            return
        self.query_one("#findings-filter", FilterBar).clear()
        self._findings = self._findings.narrowed(text="", severity="", folder="")
        self._fill()
        self.enter()
