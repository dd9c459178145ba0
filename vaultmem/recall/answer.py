"""What a recall answers: hints for the agent, candidates for who asks why. Values alone, without what finds them.

A client of the worker reads these values on every `vaultmem recall`; importing recall itself would cost it more than
the answer does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from vaultmem.recall.scoring import Signals, Verdict

MOST_CLUES = 20
"""Candidates that passive recall is told of, beside all that passed."""


class Mode(StrEnum):
    """Which signals an answer was made of; NONE: the query said nothing that could be looked up."""

    HYBRID = "hybrid"
    LEXICAL = "lexical"
    DENSE = "dense"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Hint:
    """One line for the agent."""

    id: str
    score: float
    name: str
    description: str
    path: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that was considered, with the parts of its score and what became of it."""

    id: str
    score: float
    verdict: Verdict
    signals: Signals
    path: str
    name: str
    description: str
    note_key: int


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to a query: hints best first, candidates best first."""

    query: str
    hints: tuple[Hint, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    mode: Mode = Mode.NONE
    trouble: str = ""
    """Why a signal is missing that should be there, in one line; empty when all is well."""


@dataclass(frozen=True, slots=True)
class Clue:
    """A candidate as passive recall sees it: a hint line's fields and what became of it, no signals."""

    id: str
    score: float
    name: str
    description: str
    verdict: str
    """A `scoring.Verdict`, as text: it travels from the worker to the hook of every prompt."""


def clues(candidates: Sequence[Candidate]) -> tuple[Clue, ...]:
    """What passive recall needs of a recall's candidates: the best MOST_CLUES, and every one that passed."""
    return tuple(
        Clue(c.id, c.score, c.name, c.description, str(c.verdict))
        for rank, c in enumerate(candidates)
        if rank < MOST_CLUES or c.verdict in (Verdict.HINTED, Verdict.SUPPRESSED)
    )


class Ask(Protocol):
    """Who finds the candidates for passive recall: a worker, or an engine of the hook's own."""

    def __call__(
        self, query: str, *, limit: int, project: str | None, suppressed: Collection[str]
    ) -> Sequence[Clue]: ...
