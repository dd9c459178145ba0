"""What a recall answers: hints for the agent, candidates for who asks why. Values alone, without what finds them.

A client of the worker reads these values on every `vaultmem recall`; importing recall itself would cost it more than
the answer does.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vaultmem.scoring import Signals, Verdict


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
