"""The one form in which moments are written."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmem.text.moments import local, utc_now, utc_text


def test_a_moment_is_written_in_utc_with_milliseconds() -> None:
    somewhere = timezone(timedelta(hours=5, minutes=30))
    moment = datetime(2026, 5, 1, 2, 3, 4, 56_999, tzinfo=somewhere)
    assert utc_text(moment) == "2026-04-30T20:33:04.056Z"


def test_now_is_aware_and_in_utc() -> None:
    now = utc_now()
    assert now.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - now) < timedelta(minutes=1)


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_written_moment_is_read_back_to_the_millisecond(moment: datetime) -> None:
    expected = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    assert datetime.fromisoformat(utc_text(moment)) == expected


@pytest.mark.parametrize(
    ("zone", "shown"), [("Asia/Shanghai", "02 06:30"), ("XXX-99", "01 22:30"), ("", "01 22:30")]
)
def test_a_moment_is_shown_as_this_machines_clocks_have_it(
    monkeypatch: pytest.MonkeyPatch, zone: str, shown: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        assert f"{local(datetime(2026, 12, 1, 22, 30, tzinfo=UTC)):%d %H:%M}" == shown
    time.tzset()
