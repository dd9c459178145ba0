"""Which ids an agent has been shown lately, and so is not shown again. Pure: values in, values out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """One user message and what follows until the next: the ids hinted in it, in order."""

    hinted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecentRuns:
    """The last runs of one session, oldest first; the last one is going on."""

    runs: tuple[Run, ...] = ()

    @property
    def current(self) -> Run:
        """The run that is going on; an empty one before the first."""
        return self.runs[-1] if self.runs else Run()


def begin_run(recent: RecentRuns, suppression_runs: int) -> RecentRuns:
    """A user message came: a new run; only as many past ones are kept as can still suppress something."""
    past = recent.runs[-suppression_runs:] if suppression_runs > 0 else ()
    return RecentRuns((*past, Run()))


def suppressed_for_user(recent: RecentRuns, suppression_runs: int) -> frozenset[str]:
    """Ids a user message must not be given: those of this run and of the `suppression_runs` before it."""
    past = recent.runs[:-1][-suppression_runs:] if suppression_runs > 0 else ()
    return frozenset(hinted for run in (*past, recent.current) for hinted in run.hinted)


def suppressed_for_assistant(recent: RecentRuns) -> frozenset[str]:
    """Ids an assistant turn must not be given: those of this run."""
    return frozenset(recent.current.hinted)


def with_hinted(recent: RecentRuns, ids: Iterable[str]) -> RecentRuns:
    """The runs after these ids were hinted in the one that is going on."""
    known = recent.current.hinted
    fresh = tuple(dict.fromkeys(each for each in ids if each not in known))
    return RecentRuns((*recent.runs[:-1], Run((*known, *fresh))))
