"""Progress for people: one line that is rewritten on a terminal, a line now and then elsewhere; events in words."""

from __future__ import annotations

import os
import time
from types import TracebackType
from typing import Self, TextIO

from vaultmem.events import (
    EmbeddingProgress,
    EngineFailed,
    EngineRecovered,
    Event,
    LockChanged,
    NoteEdited,
    Phase,
    Progress,
    SyncFinished,
    WatcherChanged,
)

BAR_CELLS = 24
TERMINAL_EVERY_S = 0.1
ELSEWHERE_EVERY_S = 5.0


class ProgressLine:
    """Shows the progress of a sync on `stream`; as a context manager it leaves no half line behind."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._shown_at = 0.0
        self._has_line = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._has_line:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def show(self, progress: Progress) -> None:
        """Show it, unless something was shown a moment ago."""
        now, every = time.monotonic(), TERMINAL_EVERY_S if self._is_terminal else ELSEWHERE_EVERY_S
        if not progress.total or now - self._shown_at < every:
            return
        if self._is_terminal:
            self._stream.write(f"\r\x1b[K{_bar(progress)} {_words(progress)}")
            self._has_line = True
        elif progress.phase is Phase.EMBEDDING:
            self._stream.write(f"{_words(progress)}\n")
        self._stream.flush()
        self._shown_at = now


class CountLine:
    """As `ProgressLine`, for a count of `what`."""

    def __init__(self, stream: TextIO, what: str) -> None:
        self._stream = stream
        self._what = what
        self._is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def show(self, done: int, total: int) -> None:
        """Rewrite the line; nothing elsewhere than on a terminal."""
        if self._is_terminal:
            self._stream.write(f"\r\x1b[K{done}/{total} {self._what}")
            self._stream.flush()


def _bar(progress: Progress) -> str:
    full = round(BAR_CELLS * progress.done / progress.total)
    return "█" * full + "░" * (BAR_CELLS - full)


def _words(progress: Progress) -> str:
    left = "" if progress.seconds_left is None else f", about {duration(progress.seconds_left)} left"
    return f"{progress.phase.value} {progress.done}/{progress.total} notes{left}"


def duration(seconds: float) -> str:
    """`40 s`, `3 min`, `2 h`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5_400 else f"{round(seconds / 3_600)} h"


def told(event: Event) -> str:
    """An event in a line of words; empty for those that only tell progress."""
    from vaultmem.cli.render_text import sync_text

    match event:
        case SyncFinished():
            return sync_text(event.report).replace("\n", "; ")
        case EngineFailed():
            return f"{event.message}. {event.advice}".strip()
        case EngineRecovered():
            return "works again"
        case WatcherChanged():
            return f"changes are noticed by: {event.mode.value}" + (
                f" ({event.reason})" if event.reason else ""
            )
        case LockChanged():
            return "this process writes now" if event.is_writer else f"process {event.pid} writes"
        case NoteEdited():
            return f"{event.what}: {event.path}"
        case EmbeddingProgress() | _:
            return ""
