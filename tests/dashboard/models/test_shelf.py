"""Which notes are listed and in what order; where a date comes from, which of two namesakes it is."""

from __future__ import annotations

from datetime import date

import pytest

from tests.dashboard.steps import undated
from tui.models.shelf import bucket, changed, made, per_week, sorted_notes, told_apart
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file
from vaultmem.views import NoteView


def view(path: str, data: bytes | None = None) -> NoteView:
    return FakeEngine({path: data or undated("x")}).notes()[0]


@pytest.mark.parametrize(
    ("path", "day", "origin"),
    [
        ("2026/05/week1/2026-05-03-a.md", date(2026, 5, 3), "file name"),
        ("loose/log 2026-05-03.md", date(2026, 5, 3), "file name"),
        ("2026/05/week3/2026-13-40-a.md", date(2026, 5, 15), "folder"),
        ("2026/05/week3/a.md", date(2026, 5, 15), "folder"),
        ("2026/05/a.md", date(2026, 5, 1), "folder"),
    ],
)
def test_a_date_that_the_metadata_lacks_comes_from_the_file_name_or_the_folder(path, day, origin):
    stamp = made(view(path))
    assert stamp is not None
    assert (stamp.day, stamp.origin) == (day, origin)
    assert changed(view(path)) == stamp


def test_the_metadata_comes_before_the_file_name():
    note = view("2026/05/week1/2026-05-03-a.md", note_file("A", id="a", day="2026-05-14"))
    stamp = made(note)
    assert stamp and (stamp.day, stamp.origin) == (date(2026, 5, 14), "")


@pytest.mark.parametrize("path", ["a.md", "2026/a.md", "12026-05-03.md", "2026/13/week1/a.md"])
def test_a_note_that_no_date_is_known_of_has_none(path):
    assert made(view(path)) is None and changed(view(path)) is None


def test_notes_are_counted_and_sorted_by_the_dates_in_their_file_names():
    notes = [view(path) for path in ("b.md", "2026-05-04-a.md", "2026-05-12-c.md")]
    assert [note.path for note in sorted_notes(notes, "updated", True)] == [
        "2026-05-12-c.md",
        "2026-05-04-a.md",
        "b.md",
    ]
    assert per_week(notes, date(2026, 5, 14), 2) == [(date(2026, 5, 4), 1), (date(2026, 5, 11), 1)]


def test_a_note_in_a_month_without_a_week_lies_in_the_month():
    assert bucket(view("2026/05/a.md")) == "2026/05"
    assert bucket(view("2026/05/2026-05-09-a.md")) == "2026/05/week2"


def test_namesakes_are_told_apart_by_file_name_then_id_then_path():
    marks = told_apart(
        [
            ("a/2026-05-01-cache.md", "Cache", "m1"),
            ("a/2026-05-02-cache.md", "Cache", "m2"),
            ("a/note.md", "Note", "m3"),
            ("b/note.md", "Note", "m4"),
            ("a/x.md", "Twin", "m5"),
            ("b/x.md", "Twin", "m5"),
            ("c.md", "Alone", "m6"),
        ]
    )
    assert [mark.text for mark in marks.values()] == [
        "2026-05-01-cache",
        "2026-05-02-cache",
        "m3",
        "m4",
        "a/x.md",
        "b/x.md",
    ]
    assert marks["a/2026-05-02-cache.md"].short == "…02-cache"
    assert "c.md" not in marks
