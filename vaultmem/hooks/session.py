"""Passive recall: which hints a message gets, by the rules of a session, and what is recorded of it.

    user message     a new run; at most `user_limit` hints; an id hinted in one of the last runs is held back
    assistant turn   between tool calls; at most ASSISTANT_HINT_LIMIT hints, and candidates for the person's eyes
    final turn       recorded, never given

No id is hinted twice within a run, whatever triggered it. A session's state is its usage events and nothing
else; the lock makes "look, choose, record" one step among the hooks of one session.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmem.config import ASSISTANT_HINT_LIMIT, DESCRIPTION_WIDTH, HINT_LIMIT
from vaultmem.errors import EngineError
from vaultmem.files.lock import SESSIONS_FOLDER, WriterLock
from vaultmem.hooks import budget
from vaultmem.hooks.suppression import begin_run, suppressed_for_assistant, suppressed_for_user
from vaultmem.hooks.usage import (
    EventKind,
    SessionLog,
    SessionTail,
    Trigger,
    UsageEvent,
    session_name,
    turn_key,
)
from vaultmem.recall.hints import candidate_label, hint_lines, recall_block
from vaultmem.text.moments import utc_now

if TYPE_CHECKING:
    from vaultmem.recall.answer import Ask, Clue

SHOWN_LIMIT = 3
HINTED, SUPPRESSED = "hinted", "suppressed"
SHOWN_VERDICTS = frozenset({HINTED, "below_threshold", "over_limit"})
"""What a person is shown of an assistant turn; a suppressed memory was shown before."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings of passive recall."""

    user_limit: int = HINT_LIMIT
    suppression_runs: int = 10
    budget_chars: int = 2000
    description_width: int = DESCRIPTION_WIDTH


@dataclass(frozen=True, slots=True)
class Message:
    """What was said, and where."""

    text: str
    client: str
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What a message gets. Both are empty when there is nothing to say."""

    context: str = ""
    """For the agent: the label, the hint lines, whose they are."""
    shown: str = ""
    """For the person: the best candidates, without descriptions."""


class Session:
    """One session of a client: its log, and the lock that keeps its hooks in a row."""

    def __init__(self, root: Path, state_dir: Path, session: str, rules: Rules) -> None:
        self._log = SessionLog(root, session)
        self._state_dir = state_dir
        self._lock = state_dir / SESSIONS_FOLDER / f"{session_name(session)}.lock"
        self._rules = rules

    def on_user_message(self, message: Message, ask: Ask) -> Given:
        """Begin a run and answer its message. Raises EngineError, OSError and what `ask` raises."""
        with self._alone():
            tail = self._tail()
            run = replace(tail, recent=begin_run(tail.recent, self._rules.suppression_runs), run=tail.run + 1)
            self._log.append([self._event(run, message, EventKind.RUN_STARTED)])
            if not message.text.strip():
                return Given()
            held = suppressed_for_user(run.recent, self._rules.suppression_runs)
            limit = self._rules.user_limit
            clues = ask(message.text, limit=limit, project=message.project, suppressed=held)
            return Given(self._give(run, message, Trigger.USER, clues, limit)[0])

    def on_assistant_turn(self, message: Message, ask: Ask) -> Given:
        """Answer the words between two tool calls, once. Raises as `on_user_message` does."""
        with self._alone():
            tail = self._tail()
            if not message.text.strip() or turn_key(message.text) in tail.turns:
                return Given()
            held = suppressed_for_assistant(tail.recent)
            clues = ask(message.text, limit=ASSISTANT_HINT_LIMIT, project=message.project, suppressed=held)
            context, given = self._give(tail, message, Trigger.ASSISTANT, clues, ASSISTANT_HINT_LIMIT)
            shown = [clue for clue in clues if clue.verdict in SHOWN_VERDICTS][:SHOWN_LIMIT]
            labels = " · ".join(candidate_label(clue, clue in given) for clue in shown)
            return Given(context, f"memory: {labels}" if labels else "")

    def on_final_turn(self, message: Message, ask: Ask) -> None:
        """Record what a run's last words would have been given. Raises as `on_user_message` does."""
        with self._alone():
            tail = self._tail()
            if not message.text.strip() or turn_key(message.text) in tail.turns:
                return
            held = suppressed_for_assistant(tail.recent)
            clues = ask(message.text, limit=ASSISTANT_HINT_LIMIT, project=message.project, suppressed=held)
            self._record_answer(
                tail, message, Trigger.FINAL, clues, [c for c in clues if c.verdict == HINTED]
            )

    def _tail(self) -> SessionTail:
        return self._log.tail(self._rules.suppression_runs + 1)

    def _give(
        self, tail: SessionTail, message: Message, trigger: Trigger, clues: Sequence[Clue], limit: int
    ) -> tuple[str, list[Clue]]:
        hinted = [clue for clue in clues if clue.verdict == HINTED][:limit]
        lines = hint_lines(hinted, self._rules.budget_chars, self._rules.description_width)
        given = hinted[: len(lines)]
        self._record_answer(tail, message, trigger, clues, given)
        return recall_block(lines), given

    def _record_answer(
        self,
        tail: SessionTail,
        message: Message,
        trigger: Trigger,
        clues: Sequence[Clue],
        given: Sequence[Clue],
    ) -> None:
        """Written before the hints leave: a hint that was not recorded could be given twice."""
        said = EventKind.RECORDED if trigger is Trigger.FINAL else EventKind.HINTED
        base = replace(self._event(tail, message, EventKind.QUERIED), trigger=trigger)
        held = [clue for clue in clues if clue.verdict == SUPPRESSED]
        events = [replace(base, turn=turn_key(message.text))]
        events += [
            replace(base, kind=said, id=clue.id, score=clue.score, rank=rank)
            for rank, clue in enumerate(given, 1)
        ]
        events += [replace(base, kind=EventKind.SUPPRESSED, id=clue.id, score=clue.score) for clue in held]
        self._log.append(events)

    def _event(self, tail: SessionTail, message: Message, kind: EventKind) -> UsageEvent:
        now = utc_now()
        return UsageEvent(
            kind, self._log.session, now, tail.run, client=message.client, project=message.project
        )

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        lock = WriterLock(self._lock, state_dir=self._state_dir)
        if not lock.try_acquire(budget.SESSION_S):
            raise EngineError("another hook of this session takes too long")
        try:
            yield
        finally:
            lock.discard()  # a vault has many sessions, and most are never heard of again
