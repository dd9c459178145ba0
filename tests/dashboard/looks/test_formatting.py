"""Values as short texts and bars."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from tui.looks.formatting import (
    MARK,
    ago,
    bar,
    cells,
    day,
    diff_lines,
    highlighted,
    left,
    lines,
    moment,
    progress,
    score_bar,
    with_tail,
)

WIDTH = st.integers(1, 60)
SHARE = st.floats(-0.5, 1.5)


@pytest.mark.parametrize(
    ("age_s", "text"),
    [
        (None, "never"),
        (0.9, "just now"),
        (3, "3 s ago"),
        (99, "99 s ago"),
        (120, "2 min ago"),
        (5 * 3600, "5 h ago"),
        (72 * 3600, "3 d ago"),
    ],
)
def test_an_age_is_told_by_its_largest_unit(age_s, text):
    assert ago(age_s) == text


def test_the_time_left_is_about_a_second_or_more_and_nothing_while_it_is_unknown():
    assert [left(seconds) for seconds in (None, 0, 12.4)] == ["", "about 1 s left", "about 12 s left"]


def test_a_day_is_what_is_written_and_a_dash_where_nothing_is():
    assert [day(stamp) for stamp in ("2026-05-14T10:30:00Z", "", None)] == ["2026-05-14", "—", "—"]
    assert day("soon\nor later") == "soon or la"


def test_a_moment_is_local(monkeypatch):
    at = datetime(2026, 5, 14, 10, 30, tzinfo=UTC)
    assert moment(at) == at.astimezone().strftime("%Y-%m-%d %H:%M")


def test_a_bar_is_an_eighth_of_a_cell_fine():
    assert [cells(share, 2) for share in (0, 0.5, 9 / 16, 1)] == ["  ", "█ ", "█▏", "██"]
    assert cells(0.0001, 10).strip() == "▏", "what is there is seen"


@given(SHARE, WIDTH)
def test_bars_are_as_wide_as_they_are_asked_for(share, width):
    assert len(cells(share, width)) == bar(share, width, "red").cell_length == width
    assert score_bar(share, 0.5, width, "red").cell_length == width


@given(st.floats(0, 1), st.floats(0, 1), WIDTH)
def test_a_score_bar_has_its_threshold_where_it_lies_on_the_scale(score, threshold, width):
    drawn = score_bar(score, threshold, width, "red").plain
    assert drawn.index(MARK) == min(width - 1, int(threshold * width))
    assert drawn.count(MARK) == 1


@given(st.text("ab界 ", max_size=20), st.text("abc", min_size=1, max_size=12), st.integers(8, 40))
def test_of_a_name_and_what_tells_it_apart_something_of_both_is_seen(name, tail, width):
    shown = with_tail(Content(name), tail, "…" + tail[-1], width)
    assert shown.cell_length <= width
    assert shown.plain.rstrip("…")[-1] in tail


@pytest.mark.parametrize(("done", "filled"), [(0, 0), (1, 2), (4, 10), (9, 10)])
def test_progress_is_a_line_that_fills(done, filled):
    assert progress(done, 4, 10).plain == "━" * filled + "─" * (10 - filled)


def test_where_nothing_is_to_be_done_there_is_no_line():
    assert progress(0, 0, 10).plain == ""


def test_words_are_marked_wherever_they_stand_whatever_their_case():
    marked = highlighted("Redis and REDIS", ["redis", ""], "bold")
    assert [(span.start, span.end) for span in marked.spans] == [(0, 5), (10, 15)]


def test_text_whose_folding_moves_its_letters_is_marked_where_they_are_or_not_at_all():
    assert [(span.start, span.end) for span in highlighted("Straße Redis", ["redis"]).spans] == [(7, 12)]
    assert not highlighted("İ redis", ["redis"]).spans


@pytest.mark.parametrize("text", ["Straße", "STRASSE", "strasse"])
def test_a_word_that_folds_into_more_letters_is_marked_to_its_end(text):
    assert [(span.start, span.end) for span in highlighted(text, ["straße"]).spans] == [(0, len(text))]


def test_a_diff_says_with_its_signs_what_its_colours_say():
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same"
    shown = diff_lines(diff)
    assert shown.plain == diff
    styles = {shown.plain[span.start]: span.style for span in shown.spans if span.end - span.start == 4}
    assert styles == {"-": "$text-error", "+": "$text-success"}


def test_lines_are_one_below_the_other_and_never_markup():
    assert lines(["[b]", Content("two")]).plain == "[b]\ntwo"
