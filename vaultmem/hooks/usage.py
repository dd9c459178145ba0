"""Usage events: what was hinted, suppressed and opened, as JSON lines, one append-only file per session.

The files lie under `<memory root>/.vaultmem/events/`, because they cannot be rebuilt. They are also the only
state that passive recall keeps between processes: a session's recent runs are read from the tail of its
file. `docs/agents.md` documents the format. A damaged line is skipped; a prompt's text is never written.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from vaultmem.config import EVENTS_FOLDER
from vaultmem.files import beneath
from vaultmem.hooks.suppression import RecentRuns, begin_run, with_hinted
from vaultmem.text.moments import utc_text

FORMAT_VERSION = 1
BLOCK_BYTES = 1 << 16
TAIL_LIMIT_BYTES = 1 << 22
"""A session's recent runs are looked for in at most this much of its file."""


class EventKind(StrEnum):
    """What happened. Readers skip kinds they do not know."""

    RUN_STARTED = "run_started"
    """A user message came."""
    QUERIED = "queried"
    """A recall was made for a message; `turn` tells messages apart without saying what they said."""
    HINTED = "hinted"
    """A hint was put into the agent's context."""
    SUPPRESSED = "suppressed"
    """A hint was worth showing and was held back, because it had been shown lately."""
    RECORDED = "recorded"
    """A hint would have been given for a run's last message, when nothing can be given any more."""
    OPENED = "opened"
    """The agent opened a memory."""


class Trigger(StrEnum):
    """Whose message a recall was made for."""

    USER = "user"
    ASSISTANT = "assistant"
    FINAL = "final"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class UsageEvent:
    """One line of a session's file. Fields that say nothing are left out of it."""

    kind: EventKind
    session: str
    at: datetime
    run: int = 0
    """Counts the session's user messages from 1; 0 before the first."""
    trigger: Trigger | None = None
    id: str | None = None
    score: float | None = None
    rank: int | None = None
    """1 is the best hint of its recall."""
    turn: str | None = None
    """Key of the message that was the query: a hash of it."""
    client: str | None = None
    project: str | None = None


def turn_key(text: str) -> str:
    """A short hash by which a message is known again; its text cannot be read from it."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def event_line(event: UsageEvent) -> bytes:
    """The event as one line of JSON, line end included."""
    fields = {
        "v": FORMAT_VERSION,
        "at": utc_text(event.at),
        "event": event.kind.value,
        "session": event.session,
        "run": event.run,
        "trigger": event.trigger.value if event.trigger else None,
        "id": event.id,
        "score": None if event.score is None else round(event.score, 4),
        "rank": event.rank,
        "turn": event.turn,
        "client": event.client,
        "project": event.project,
    }
    present = {key: value for key, value in fields.items() if value is not None}
    return json.dumps(present, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def read_usage_event(line: bytes) -> UsageEvent | None:
    """The event of a line, or None when the line is damaged or speaks of something newer."""
    try:
        fields = json.loads(line)
        return UsageEvent(
            kind=EventKind(fields["event"]),
            session=str(fields["session"]),
            at=datetime.fromisoformat(fields["at"]),
            run=int(fields.get("run", 0)),
            trigger=Trigger(fields["trigger"]) if "trigger" in fields else None,
            id=_text(fields.get("id")),
            score=float(fields["score"]) if "score" in fields else None,
            rank=int(fields["rank"]) if "rank" in fields else None,
            turn=_text(fields.get("turn")),
            client=_text(fields.get("client")),
            project=_text(fields.get("project")),
        )
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def session_name(session: str) -> str:
    """A file name (without suffix) for a session id that a client made up; two ids never share one."""
    if re.fullmatch(r"[A-Za-z0-9_-]{1,80}", session):
        return session
    kept = re.sub(r"[^A-Za-z0-9_-]+", "-", session)[:40].strip("-")
    return (
        f"{kept or 'session'}-{blake2b(session.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"
    )


class SessionLog:
    """The events of one session."""

    def __init__(self, root: Path, session: str) -> None:
        self.session = session
        self._root, self._file = root, f"{session_name(session)}.jsonl"

    @property
    def path(self) -> Path:
        """Where the events lie."""
        return self._root / EVENTS_FOLDER / self._file

    def append(self, events: Iterable[UsageEvent]) -> None:
        """Add events at the end of the file, in one write: other processes' lines are never torn.

        A root without anything in it may be a drive that is away: nothing is hinted from it, and nothing recorded.

        Raises:
            OSError: the file cannot be written; nothing is ever written through a link.
        """
        text = b"".join(event_line(event) for event in events)
        with os.scandir(self._root) as entries:
            if not text or next(entries, None) is None:
                return
        with (
            beneath.folder(self._root, EVENTS_FOLDER, make=0o700) as folder,
            beneath.opened(folder, self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT) as descriptor,
        ):
            os.write(descriptor, (b"\n" if _ends_torn(descriptor) else b"") + text)

    def read(self) -> Iterator[UsageEvent]:
        """Every readable event of the session, oldest first; nothing when it has no file."""
        with self._opened() as file:
            yield from (event for line in file or () if (event := read_usage_event(line)))

    @contextlib.contextmanager
    def _opened(self) -> Iterator[BinaryIO | None]:
        """The file, for reading; None while there is none. Raises OSError."""
        with contextlib.ExitStack() as stack:
            try:
                folder = stack.enter_context(beneath.folder(self._root, EVENTS_FOLDER))
                descriptor = stack.enter_context(beneath.opened(folder, self._file))
            except FileNotFoundError:
                yield None
            else:
                yield stack.enter_context(open(descriptor, "rb", closefd=False))

    def tail(self, runs: int) -> SessionTail:
        """What the last `runs` runs (the current one counted) were given."""
        return session_tail(self._last_lines(runs), runs)

    def _last_lines(self, runs: int) -> list[bytes]:
        with self._opened() as file:
            return [] if file is None else _last_lines(file, runs)


def _last_lines(file: BinaryIO, runs: int) -> list[bytes]:
    """The lines at the end that hold the beginnings of `runs` runs, as far as the limit goes."""
    size, length = file.seek(0, os.SEEK_END), 0
    while True:
        length = min(size, max(BLOCK_BYTES, length * 4), TAIL_LIMIT_BYTES)
        file.seek(size - length)
        lines = file.read(length).split(b"\n")[1 if length < size else 0 :]
        starts = sum(EventKind.RUN_STARTED.value.encode() in line for line in lines)
        if starts >= runs or length in (size, TAIL_LIMIT_BYTES):
            return lines


def _ends_torn(descriptor: int) -> bool:
    """A crash or a full disk left half a line at the end."""
    size = os.lseek(descriptor, 0, os.SEEK_END)
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"


@dataclass(frozen=True, slots=True)
class SessionTail:
    """What passive recall must know of a session."""

    recent: RecentRuns = field(default_factory=RecentRuns)
    run: int = 0
    """The number of the run that is going on; 0 before the first user message."""
    turns: frozenset[str] = frozenset()
    """Keys of the messages of this run that a recall was made for."""


def session_tail(lines: Iterable[bytes], runs: int) -> SessionTail:
    """Fold lines, oldest first, into the last `runs` runs (the current one counted). Damaged lines are skipped."""
    recent = RecentRuns()
    turns: set[str] = set()
    number = 0
    for event in filter(None, map(read_usage_event, lines)):
        if event.kind is EventKind.RUN_STARTED:
            recent = begin_run(recent, runs - 1)
            turns.clear()
            number = max(event.run, number + 1)
        elif event.kind is EventKind.HINTED and event.id:
            recent = with_hinted(recent, (event.id,))
        elif event.kind is EventKind.QUERIED and event.turn:
            turns.add(event.turn)
    return SessionTail(recent, number, frozenset(turns))
