"""A clock that strikes each millisecond once: what asks it for a new id's time never gets another's.

Ids hold a time in milliseconds, and twelve agents may save at once, in threads and in processes. The last time that
was given lies in a file of the state dir; whoever asks holds its lock meanwhile.
"""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from vaultmem.files.lock import locked_file
from vaultmem.text.moments import utc_now

CLOCK_FILE = "id.clock"
AHEAD_LIMIT = timedelta(hours=1)
"""A last time further ahead than this was given while the machine's clock was wrong, and is not gone on from."""

WAIT_S = 2.0
_DIGITS = 20
_MILLISECOND = timedelta(milliseconds=1)
_EPOCH = datetime.fromtimestamp(0, UTC)


class IdClock:
    """The clock of one state dir."""

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir

    def strike(self) -> datetime:
        """The time now, in UTC and whole milliseconds, or the first one after it that nobody was given.

        Where no file can be kept (a full disk, a state dir that is not ours) it is just the time now.
        """
        with contextlib.suppress(OSError), locked_file(self._state_dir, CLOCK_FILE, WAIT_S) as descriptor:
            return _next(descriptor)
        return _in_milliseconds(utc_now())


def _next(descriptor: int) -> datetime:
    moment, text = _in_milliseconds(utc_now()), os.pread(descriptor, _DIGITS, 0).strip()
    if text.isdigit():
        with contextlib.suppress(OverflowError):
            last = _EPOCH + int(text) * _MILLISECOND
            if moment <= last <= moment + AHEAD_LIMIT:
                moment = last + _MILLISECOND
    os.ftruncate(descriptor, os.pwrite(descriptor, b"%d\n" % ((moment - _EPOCH) // _MILLISECOND), 0))
    return moment


def _in_milliseconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
