"""Bonuses: what moves a score beside the two signals, each by name. Pure.

`exact_identifier` puts the memories that carry a name of the prompt first and makes them hints. `project` and
`recency` order what is a hint already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from vaultmem.notes.tags import normalise_tag
from vaultmem.recall import scoring
from vaultmem.recall.identifiers import Identifier


def small_bonuses(
    base: float, tags: Sequence[str], written_at: str | None, project: str | None, now: datetime
) -> dict[str, float]:
    """The project and recency bonuses of a memory whose signals alone add up to `base`; zeros are left out."""
    share = scoring.share_of_small_bonuses(base)
    age_days = _age_days(written_at, now)
    bonuses = {
        "project": scoring.PROJECT_BONUS if project and is_of_project(tags, project) else 0.0,
        "recency": scoring.recency(age_days) if age_days is not None else 0.0,
    }
    return {name: share * value for name, value in bonuses.items() if share * value > 0}


def is_of_project(tags: Sequence[str], project: str) -> bool:
    """One of the tags is `project/<project>`, or below it."""
    if not (name := normalise_tag(project)):
        return False
    tag = f"project/{name}"
    return any(own == tag or own.startswith(f"{tag}/") for own in tags)


def carried_names(
    names: Sequence[Identifier], held: Mapping[str, int], is_likely: bool
) -> tuple[Identifier, ...]:
    """The identifiers that a document with these terms carries; weak ones only where it `is_likely` anyway."""
    return tuple(name for name in names if (is_likely or not name.is_weak) and name.is_carried(held))


def exact_bonus(base: float, coverage: float, best_without: float) -> float:
    """The bonus of a memory that carries identifiers: what lifts it above all that carry none.

    `coverage` is how many it carries of the most that any memory does (0..1], `best_without` the best score of a
    memory that carries none, with its small bonuses. What is left above these is shared out by coverage and by the
    memory's own signals.
    """
    floor = max(scoring.EXACT_IDENTIFIER, min(1.0, best_without))
    height = scoring.COVERAGE_SHARE * coverage + (1 - scoring.COVERAGE_SHARE) * base
    return floor + (1 - floor) * height - base


def _age_days(written_at: str | None, now: datetime) -> float | None:
    """Whole days since a note was last written by its own word, or None when it does not say."""
    try:
        written = datetime.fromisoformat(written_at or "")
    except ValueError:
        return None
    aware = written if written.tzinfo else written.replace(tzinfo=UTC)
    return float((now - aware).days)
