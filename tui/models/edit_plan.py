"""A plan of edits that a person sees before it is carried out, bound to the notes as they were then. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vaultmem.notes.parse import digest_of
from vaultmem.text.amounts import counted
from vaultmem.text.shown import harmless

if TYPE_CHECKING:
    from vaultmem.views import Edited


@dataclass(slots=True)
class EditPlan:
    """The newest plan. Files are remembered as they were last seen, so that a change outside is noticed."""

    edits: tuple[Edited, ...] = ()
    refusals: Mapping[str, str] = field(default_factory=dict)
    """Path → why the note cannot be edited so."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Path → why the note was not written when it was tried last."""
    outside: frozenset[str] = frozenset()
    """Paths that changed outside since the dialog was opened."""
    has_news: bool = False
    """The newest plan is made on a text that was not shown before."""
    asked: int = 1
    """Number of the plan that is wanted now."""
    answered: int = 0
    _seen: dict[str, str] = field(default_factory=dict)
    """Path → digest of the text that the change was shown for."""

    def see(self, path: str, digest: str) -> None:
        """A person was shown this text of a note, without a plan yet."""
        self._seen.setdefault(path, digest)

    def outdate(self) -> None:
        """What is wanted changed: a plan that is under way is not the one any more."""
        self.asked += 1
        self.failures = {}

    def recheck(self) -> None:
        """Notes changed: the same is wanted, but the plan may be another one."""
        self.asked += 1

    def take(self, number: int, edits: Sequence[Edited], refusals: Mapping[str, str]) -> bool:
        """The plan with this number came back; False for one that is out of date by now."""
        if number != self.asked:
            return False
        self.answered = number
        self.edits, self.refusals = tuple(edits), refusals
        texts = {edit.path: digest_of(edit.before) for edit in edits}
        changed = {path for path, text in texts.items() if self._seen.get(path, text) != text}
        self.has_news = bool(changed)
        self.outside |= changed
        self._seen.update(texts)
        return True

    def written(self, edits: Sequence[Edited], failures: Mapping[str, str]) -> None:
        """Some notes were written, others were not: what is left needs another plan."""
        self._seen.update((edit.path, digest_of(edit.after)) for edit in edits)
        self.failures = failures
        self.asked += 1

    @property
    def is_current(self) -> bool:
        """The plan is that of what was asked last."""
        return self.answered == self.asked

    @property
    def changes(self) -> tuple[Edited, ...]:
        """The edits that change something."""
        return tuple(edit for edit in self.edits if edit.changed)

    def complaint(self) -> str:
        """What cannot be edited so, and what could not be written, with the reasons; empty when all is well."""
        reasons = {**self.failures, **self.refusals}
        return "\n".join(
            "✖ " + harmless(reason if reason.startswith(path) else f"{path}: {reason}")
            for path, reason in reasons.items()
        )

    def summary(self) -> str:
        """How many notes change, how many are refused, and how many are not what they were."""
        told = counted(len(self.changes), "note") + " will change" if self.changes else "nothing changes"
        told += f", {len(self.refusals)} refused" if self.refusals else ""
        changed = sum(edit.path in self.outside for edit in self.changes)
        return told + (f" · ▲ {changed} changed outside" if changed else "")
