"""Which notes are listed and in what order; where a date comes from, which of two namesakes it is."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clock import in_zone
from tests.dashboard.steps import undated
from tui.models.shelf import (
    Place,
    Shelf,
    bucket,
    changed,
    folders,
    made,
    matching,
    per_week,
    sorted_notes,
    told_apart,
    words,
)
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


def shelf(*notes: tuple[str, bytes]) -> Shelf:
    return Shelf.of(FakeEngine(dict(notes)).notes())


SHELF = shelf(
    ("2026/05/week1/b.md", note_file("Bee", id="b", tags=["project/march", "x"], day="2026-05-03")),
    ("2026/05/week2/a.md", note_file("ant", id="a", tags=["project"], status="deprecated", day="2026-05-12")),
    ("c.md", undated("Cat")),
)


def test_a_shelf_counts_notes_by_time_and_by_tag_those_of_nested_tags_for_their_parents_too():
    assert SHELF.times == {
        "2026": 2,
        "2026/05": 2,
        "2026/05/week1": 1,
        "2026/05/week2": 1,
        "undated": 1,
    }
    assert SHELF.tags == {"project": 2, "project/march": 1, "x": 1}
    assert SHELF.tag_uses == {"project/march": 1, "x": 1, "project": 1}
    assert [note.path for note in SHELF.at(["c.md", "gone.md"])] == ["c.md"]


@pytest.mark.parametrize(
    ("place", "held"),
    [
        (Place(), "abc"),
        (Place("time", "2026/05"), "ab"),
        (Place("time", "2026/05/week2"), "a"),
        (Place("time", "undated"), "c"),
        (Place("tag", "project"), "ab"),
        (Place("tag", "project/march"), "b"),
        (Place("tag", "pro"), ""),
    ],
)
def test_a_place_holds_what_lies_under_it(place, held):
    assert {note.path[-4] for note in SHELF.notes if place.holds(note)} == set(held)


@pytest.mark.parametrize(
    ("text", "found"),
    [("", "abc"), ("BEE", "b"), ("#project deprecated", "a"), ("week1 march", "b"), ("bee ant", "")],
)
def test_a_filter_finds_the_notes_that_hold_all_its_words(text, found):
    held = matching(SHELF.notes, SHELF.haystacks, words(text))
    assert {note.path[-4] for note in held} == set(found)


@pytest.mark.parametrize(
    ("column", "ascending", "descending"),
    [
        ("name", "abc", "cba"),
        ("tags", "abc", "bac"),
        ("updated", "bac", "abc"),
        ("status", "bca", "abc"),
        ("path", "bac", "cab"),
    ],
)
def test_notes_are_sorted_by_a_column_and_those_without_it_come_last(column, ascending, descending):
    for order, is_descending in ((ascending, False), (descending, True)):
        notes = sorted_notes(reversed(SHELF.notes), column, is_descending)
        assert "".join(note.path[-4] for note in notes) == order


def test_weeks_in_which_nothing_was_made_lead_to_those_of_the_newest_note():
    weeks = per_week(SHELF.notes, date(2027, 1, 1), 2)
    assert weeks == [(date(2026, 5, 4), 0), (date(2026, 5, 11), 1)]
    assert per_week((), date(2026, 5, 20), 1) == [(date(2026, 5, 18), 0)]


def test_a_note_from_the_future_is_in_no_week():
    notes = [view("2026-06-01-a.md"), view("2026-05-20-b.md")]
    assert per_week(notes, date(2026, 5, 20), 1) == [(date(2026, 5, 18), 1)]


def test_folders_are_those_that_hold_the_paths_and_their_parents():
    assert folders(["a/b/c.md", "a/x.md", "loose.md"]) == ["a", "a/b"]


@given(
    st.lists(
        st.tuples(st.text("ab/", min_size=1), st.sampled_from("xy"), st.text("12")), unique_by=lambda n: n[0]
    )
)
def test_whatever_is_told_of_namesakes_no_two_of_them_are_told_the_same(notes):
    marks = told_apart(notes)
    for name in "xy":
        paths = [path for path, called, _ in notes if called == name]
        assert len(paths) < 2 or len({marks[path].text for path in paths}) == len(paths)
        assert len(paths) > 1 or not marks.keys() & set(paths)


@pytest.mark.parametrize(
    ("zone", "written", "day"),
    [
        ("CST-8", "2026-11-30T19:21:00.000Z", date(2026, 12, 1)),
        ("PST8", "2026-11-30T03:00:00+00:00", date(2026, 11, 29)),
        ("PST8", "2026-11-30T03:00:00", date(2026, 11, 30)),
        ("PST8", "2026-11-30", date(2026, 11, 30)),
        ("PST8", "2026-11-30 at noon", date(2026, 11, 30)),
        ("CST-8", "9999-12-31T23:00:00Z", date(9999, 12, 31)),
    ],
)
def test_a_note_was_made_on_the_day_that_people_here_had(zone: str, written: str, day: date) -> None:
    data = f"---\nid: a\ncreated_at: {written}\nupdated_at: {written}\n---\n".encode()
    with in_zone(zone):
        note = view("undated.md", data)
        stamps = made(note), changed(note)
    assert [stamp and stamp.day for stamp in stamps] == [day, day]
