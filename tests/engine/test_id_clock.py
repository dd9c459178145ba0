"""Moments for ids: no two askers get the same one, whatever the machine's clock does."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from vaultmem.engine import id_clock
from vaultmem.engine.id_clock import CLOCK_FILE, IdClock

NOW = datetime(2026, 12, 1, 3, 21, 0, 123_000, tzinfo=UTC)


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IdClock:
    monkeypatch.setattr(id_clock, "utc_now", lambda: NOW + timedelta(microseconds=456))
    return IdClock(tmp_path / "state")


def later(milliseconds: int) -> datetime:
    return NOW + timedelta(milliseconds=milliseconds)


def test_each_millisecond_is_given_once(clock: IdClock) -> None:
    assert [clock.strike() for _ in range(3)] == [later(0), later(1), later(2)]


def test_threads_and_processes_share_one_clock(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from vaultmem.engine.id_clock import IdClock\n"
        "clock = IdClock(Path(sys.argv[1])); print(*(clock.strike().isoformat() for _ in range(50)))"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    own = IdClock(tmp_path)
    with ThreadPoolExecutor(8) as threads:
        struck = [moment.isoformat() for moment in threads.map(lambda _: own.strike(), range(50))]
    for process in started:
        struck += process.communicate()[0].split()
    assert len(struck) == len(set(struck)) == 200


def test_a_clock_that_is_set_back_a_little_goes_on_from_the_last_moment(
    clock: IdClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.strike()
    monkeypatch.setattr(id_clock, "utc_now", lambda: later(-5_000))
    assert clock.strike() == later(1)
    monkeypatch.setattr(id_clock, "utc_now", lambda: NOW - timedelta(days=3))  # it had been wrong
    assert clock.strike() == NOW - timedelta(days=3)


@pytest.mark.parametrize("text", [b"", b"rubbish", b"9" * 400, b"99999999999999999\n", b"-5", b"\xb2"])
def test_a_damaged_file_counts_nothing(clock: IdClock, tmp_path: Path, text: bytes) -> None:
    clock.strike()
    (tmp_path / "state" / CLOCK_FILE).write_bytes(text)
    assert [clock.strike(), clock.strike()] == [later(0), later(1)]


def test_where_no_file_can_be_kept_it_is_the_time_now(clock: IdClock, tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"a file")
    assert [clock.strike(), clock.strike()] == [later(0), later(0)]


def test_a_link_in_the_place_of_the_file_is_not_written_through(clock: IdClock, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / CLOCK_FILE).symlink_to(tmp_path / "outside")
    assert clock.strike() == later(0)
    assert sorted(os.listdir(tmp_path)) == ["state"]
