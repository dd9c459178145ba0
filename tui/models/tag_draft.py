"""The tags of one or many notes while they are edited: on all, on some, to be added, to be removed. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Chip:
    """One tag as it is shown: on how many of the notes it is, and what will become of it."""

    tag: str
    on: int
    total: int
    is_added: bool
    is_removed: bool


@dataclass(frozen=True, slots=True)
class TagDraft:
    """The tags of `total` notes and the changes asked for so far."""

    counts: Mapping[str, int]
    total: int
    added: tuple[str, ...] = ()
    removed: frozenset[str] = frozenset()

    @classmethod
    def of(cls, tags_of_notes: Sequence[Sequence[str]]) -> TagDraft:
        """The tags as they are now."""
        counts = Counter(tag for tags in tags_of_notes for tag in dict.fromkeys(tags))
        return cls(counts, len(tags_of_notes))

    def on(self, tags_of_notes: Sequence[Sequence[str]]) -> TagDraft:
        """The same wishes for notes that have other tags by now; what they have got already is no wish any more."""
        now = TagDraft.of(tags_of_notes)
        added = tuple(tag for tag in self.added if now.counts.get(tag, 0) < now.total)
        return replace(now, added=added, removed=self.removed & now.counts.keys())

    @property
    def chips(self) -> tuple[Chip, ...]:
        """All tags, those on the notes first, in their order."""
        own = [
            Chip(tag, on, self.total, tag in self.added, tag in self.removed)
            for tag, on in self.counts.items()
        ]
        new = [Chip(tag, 0, self.total, True, False) for tag in self.added if tag not in self.counts]
        return (*own, *new)

    def with_tag(self, tag: str) -> TagDraft:
        """Put a tag on all notes."""
        kept = self.removed - {tag}
        if self.counts.get(tag, 0) == self.total:
            return replace(self, removed=kept)
        return replace(self, removed=kept, added=tuple(dict.fromkeys((*self.added, tag))))

    def turned(self, tag: str) -> TagDraft:
        """The next state of a tag: on some → on all → on none → as it was; a new one goes."""
        on = self.counts.get(tag, 0)
        if tag in self.removed:
            return replace(self, removed=self.removed - {tag})
        if tag in self.added:
            without = tuple(each for each in self.added if each != tag)
            return replace(self, added=without, removed=self.removed | {tag} if on else self.removed)
        if on < self.total:
            return replace(self, added=(*self.added, tag))
        return replace(self, removed=self.removed | {tag})

    def without(self, tag: str) -> TagDraft:
        """Take a tag off all notes that have it; a new one goes. It never adds anything."""
        added = tuple(each for each in self.added if each != tag)
        is_on_some = bool(self.counts.get(tag, 0))
        return replace(self, added=added, removed=self.removed | {tag} if is_on_some else self.removed)

    def without_last(self) -> TagDraft:
        """Take back the tag that was typed last, else remove the last one that is there."""
        if self.added:
            return replace(self, added=self.added[:-1])
        left = [tag for tag in self.counts if tag not in self.removed]
        return replace(self, removed=self.removed | {left[-1]}) if left else self


def completions(
    typed: str, vault_tags: Mapping[str, int], taken: Sequence[str], limit: int = 50
) -> list[tuple[str, int]]:
    """Tags of the vault for what was typed: those that begin with it, then those that hold it, most used first."""
    wanted = typed.casefold()
    found = [
        (
            not tag.startswith(wanted),
            not any(part.startswith(wanted) for part in tag.split("/")),
            -number,
            tag,
        )
        for tag, number in vault_tags.items()
        if wanted in tag and tag not in taken
    ]
    return [(tag, -number) for _, _, number, tag in sorted(found)[:limit]]
