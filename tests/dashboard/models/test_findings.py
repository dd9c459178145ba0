"""Diagnostics as a list to work through, and which key mends what."""

from __future__ import annotations

import pytest

from tui.models.findings import Finding, Findings, Group, fixes_for
from tui.panes.diagnostics import DiagnosticsPane
from vaultmem.notes.diagnostics import Diagnostic, Severity
from vaultmem.notes.problems import Code


def found(code: str, path: str, severity: str = "warning", line: int | None = None) -> Diagnostic:
    return Diagnostic(Code(code), Severity(severity), path, None, f"{code} here", "mend it", line)


ALL = Findings().with_diagnostics(
    [
        found("no_tags", "2026/05/b.md", "info"),
        found("no_tags", "2026/a.md", "info"),
        found("missing_description", "2026/05/b.md"),
        found("conflict_id", "c.md", "error"),
        found("bad_yaml", "2026/05/d.md", "error", 3),
        found("bad_yaml", "2026/05/d.md", "error", 5),
    ]
)


def drawn(findings: Findings) -> list[str]:
    return [row.code if isinstance(row, Group) else f"  {row.path}" for row in findings.rows()]


def test_the_gravest_come_first_then_the_most_frequent_and_each_code_by_path():
    assert drawn(ALL) == [
        "bad_yaml", "  2026/05/d.md", "  2026/05/d.md",
        "conflict_id", "  c.md",
        "missing_description", "  2026/05/b.md",
        "no_tags", "  2026/05/b.md", "  2026/a.md",
    ]  # fmt: skip


def test_no_two_rows_have_one_key_and_a_key_outlives_other_findings():
    keys = [row.key for row in ALL.rows()]
    assert len(set(keys)) == len(keys)
    again = ALL.with_diagnostics([found("bad_yaml", "2026/05/d.md", "error", 3)])
    assert {row.key for row in again.rows()} <= set(keys)


def test_a_group_that_is_folded_is_its_heading_with_its_count():
    folded = ALL.folding(Group.key_of("bad_yaml"))
    assert drawn(folded)[:2] == ["bad_yaml", "conflict_id"]
    assert folded.rows()[0] == Group("bad_yaml", "error", 2, is_folded=True)
    assert folded.shown == ALL.shown == 6
    assert folded.folding(Group.key_of("bad_yaml")) == ALL


@pytest.mark.parametrize(
    ("filters", "paths"),
    [
        ({"text": "BAD yaml"}, ["2026/05/d.md", "2026/05/d.md"]),
        ({"text": "bad_yaml c.md"}, []),
        ({"severity": "error", "text": "here"}, ["c.md", "2026/05/d.md", "2026/05/d.md"]),
        ({"folder": "2026/05", "severity": "info"}, ["2026/05/b.md"]),
        ({"folder": "2026/0"}, []),
    ],
)
def test_a_finding_is_visible_when_it_passes_every_filter(filters, paths):
    narrowed = ALL.narrowed(**filters)
    assert [each.path for each in narrowed.visible] == paths
    assert narrowed.narrowed() == narrowed
    assert narrowed.narrowed(text="", severity="", folder="") == ALL


def test_findings_are_counted_for_their_folder_and_those_above_it():
    assert ALL.folder_counts() == {"2026": 5, "2026/05": 4}


@pytest.mark.parametrize("code", Code)
def test_every_code_has_a_fix_that_the_tab_can_do(code):
    fixes = fixes_for(str(code))
    assert fixes
    for fix in fixes:
        assert fix.action == "write_active" or hasattr(DiagnosticsPane, f"action_{fix.action}")


def test_what_only_a_person_can_mend_is_opened_in_the_editor():
    assert [fix.action for fix in fixes_for("bad_yaml")] == ["open_editor", "open_obsidian"]
    assert isinstance(ALL.rows()[1], Finding)
