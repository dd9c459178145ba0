"""The few of the engine's answers that conclude something from what they hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from vaultmem.notes.metadata import Metadata, Status
from vaultmem.notes.problems import Code
from vaultmem.views import Check, DoctorReport, Freshness, NoteView

NOW = datetime(2026, 5, 14, tzinfo=UTC)


def note(*codes: Code) -> NoteView:
    metadata = Metadata("a", "A", "about", (), Status.ACTIVE, None, None)
    return NoteView(metadata, "a.md", True, True, codes, 1, 1, is_pending=False)


def test_a_note_is_in_conflict_by_its_diagnostics() -> None:
    assert note(Code.NO_TAGS, Code.CONFLICT_ID).in_conflict and not note(Code.NO_TAGS).in_conflict


def test_answers_are_as_old_as_the_last_scan_and_of_no_age_without_one() -> None:
    assert Freshness(NOW - timedelta(seconds=90), 0, None).age_s(NOW) == 90.0
    assert Freshness(None, 0, None).age_s(NOW) is None


@pytest.mark.parametrize(
    ("caches_ok", "around_ok", "agree"), [(True, True, True), (True, False, True), (False, True, False)]
)
def test_caches_agree_whatever_is_wrong_around_them(caches_ok: bool, around_ok: bool, agree: bool) -> None:
    checks = (Check("lexical", caches_ok, ""), Check("disk", around_ok, "", is_of_caches=False))
    assert DoctorReport(agree and around_ok, checks, ()).caches_agree is agree
