"""A recall preview as values: the settings it was asked with, and the answer with what the screen derives. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tui.models.explanation import Question
from vaultmem.config import DESCRIPTION_WIDTH, HINT_LIMIT
from vaultmem.recall.hints import hint_lines, recall_block
from vaultmem.text.amounts import counted
from vaultmem.text.terms import query_terms

if TYPE_CHECKING:
    from vaultmem.recall.answer import Candidate, Hint, Recall


@dataclass(frozen=True, slots=True)
class Settings:
    """What a preview is asked with."""

    min_score: float = 0.5
    limit: int = HINT_LIMIT
    project: str = ""
    is_assistant: bool = False
    suppressed: frozenset[str] = frozenset()
    """Ids that are not given again."""
    given: tuple[str, ...] = ()
    """Ids that the last user turn's preview gave; an assistant turn of the same run does not repeat them."""
    budget_chars: int = 2000
    description_width: int = DESCRIPTION_WIDTH

    def after(self, recall: Recall) -> Settings:
        """The settings for what comes next: a user turn's hints count as given."""
        if self.is_assistant:
            return self
        return replace(self, given=tuple(hint.id for hint in recall.hints))


@dataclass(frozen=True, slots=True)
class Preview:
    """What a prompt would be answered, best candidates first."""

    settings: Settings
    candidates: tuple[Candidate, ...]
    hints: tuple[Hint, ...]
    terms: tuple[str, ...]
    """The prompt's words that can be looked up."""
    told: str
    trouble: str
    ranks: Mapping[int, int] = field(default_factory=dict)
    """Position among the candidates → rank among those that pass all but the limit."""

    @classmethod
    def of(cls, recall: Recall, settings: Settings, seconds: float) -> Preview:
        """What the screen shows of a recall."""
        passing = [
            at for at, each in enumerate(recall.candidates) if each.verdict in ("hinted", "over_limit")
        ]
        return cls(
            settings,
            recall.candidates,
            recall.hints,
            tuple(query_terms(recall.query)),
            _told(recall, settings, seconds),
            recall.trouble,
            {at: rank for rank, at in enumerate(passing, 1)},
        )

    def shown(self, *, hints_alone: bool) -> list[int]:
        """Positions of the candidates that are listed."""
        return [at for at, each in enumerate(self.candidates) if not hints_alone or each.verdict == "hinted"]

    def best(self, shown: Sequence[int]) -> str | None:
        """The path of the first hint among them; where nothing takes part, of the nearest candidate."""
        at = next((at for at in shown if self.ranks.get(at) == 1), shown[0] if shown else None)
        return None if at is None else self.candidates[at].path

    def block(self) -> str:
        """Exactly what the agent would be given; empty when there is no hint."""
        settings = self.settings
        return recall_block(hint_lines(self.hints, settings.budget_chars, settings.description_width))


def _told(recall: Recall, settings: Settings, seconds: float) -> str:
    parts = [
        counted(len(recall.hints), "hint"),
        f"{counted(len(recall.candidates), 'memory', 'memories')} considered",
        f"{recall.mode}",
        f"{seconds * 1000:.0f} ms",
    ]
    if settings.is_assistant:
        parts.append(f"{len(settings.suppressed)} given on the user turn are not repeated")
    if recall.trouble:
        parts.append(f"▲ {recall.trouble}")
    return " · ".join(parts)


def question_for(preview: Preview, at: int) -> Question:
    """What the candidate at this position was considered for."""
    settings = preview.settings
    return Question(preview.terms, settings.min_score, settings.limit, preview.ranks.get(at, 0))
