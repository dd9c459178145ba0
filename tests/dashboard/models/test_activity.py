"""Events of the engine as lines to read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tui.models.activity import activity_line, sync_counts
from vaultmem.events import EngineFailed, LockChanged, NoteEdited, SyncFinished, SyncReport

AT = datetime(2026, 5, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (SyncReport(scanned=3), "nothing new"),
        (SyncReport(added=2, chunks_embedded=14), "2 added, 14 chunks embedded"),
        (SyncReport(updated=1, moved=1, deleted=1), "1 updated, 1 moved, 1 deleted"),
        (SyncReport(unreadable=3), "3 unreadable"),
    ],
)
def test_a_sync_is_told_by_what_it_did(report, told):
    assert sync_counts(report) == told


def test_a_line_can_be_found_by_all_that_it_says():
    line = activity_line(SyncFinished(AT, SyncReport(scanned=3, added=1, paths=("A/New.md",))), 7)
    assert (line.number, line.at, line.kind, line.text) == (7, AT, "synced", "1 added")
    assert line.details == ("3 notes looked at in 0.00 s", "A/New.md")
    assert all(word in line.haystack for word in ("synced", "1 added", "a/new.md"))


def test_what_failed_is_told_with_the_advice():
    line = activity_line(EngineFailed(AT, "no model", "Install one."), 1)
    assert (line.kind, line.text, line.details) == ("failed", "no model", ("Install one.",))


def test_whose_the_lock_is_is_told():
    texts = [activity_line(LockChanged(AT, *who), 1).text for who in ((True, 1), (False, 7), (False, None))]
    assert texts == [
        "this window writes the caches now",
        "process 7 writes the caches; this window follows it",
        "nobody writes",
    ]


def test_an_edit_is_told_with_its_note():
    assert activity_line(NoteEdited(AT, "a.md", "tags"), 1).text == "tags: a.md"
