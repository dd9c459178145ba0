"""Which notes are shown, and in what order: filters, sort keys, time and tag buckets. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from vaultmem.text.moments import local

if TYPE_CHECKING:
    from vaultmem.views import NoteView

_DAY = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_WEEK = re.compile(r"^(\d{4})/(\d{2})/week([1-5])/")
_MONTH = re.compile(r"^(\d{4})/(\d{2})/")
_NAME_END = re.compile(r"[^\W_]*$")
"""The letters and digits at the end: a word that may go on."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """When something was. `origin` says where that stands, if not in the metadata: `file name` or `folder`."""

    day: date
    text: str
    """As it is written, so that notes of one day can be sorted by the time of day."""
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A branch of the tree: `time` with "2026/05/week2" or a part of it, `tag` with a tag; "" holds every note."""

    kind: str = "time"
    value: str = ""

    def holds(self, note: NoteView) -> bool:
        """The note lies under this branch."""
        if not self.value:
            return True
        if self.kind == "tag":
            return any(under(tag, self.value) for tag in note.tags)
        return under(bucket(note), self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """All notes, with what the dashboard derives from them once per reading."""

    notes: tuple[NoteView, ...] = ()
    haystacks: Mapping[str, str] = field(default_factory=dict)
    """Path → text that a filter looks into."""
    by_path: Mapping[str, NoteView] = field(default_factory=dict)
    times: Mapping[str, int] = field(default_factory=dict)
    """Notes per year, month and week."""
    tags: Mapping[str, int] = field(default_factory=dict)
    """Notes per tag, those of nested tags counted for their parents too."""
    tag_uses: Mapping[str, int] = field(default_factory=dict)
    """Notes per tag as it is written in them, most used first."""

    @classmethod
    def of(cls, notes: Sequence[NoteView]) -> Shelf:
        """Put notes on the shelf."""
        return cls(
            tuple(notes),
            {note.path: haystack(note) for note in notes},
            {note.path: note for note in notes},
            notes_per_time(notes),
            notes_per_tag(notes),
            dict(Counter(tag for note in notes for tag in note.tags).most_common()),
        )

    def at(self, paths: Iterable[str]) -> list[NoteView]:
        """The notes at these paths that are still there."""
        return [self.by_path[path] for path in paths if path in self.by_path]


def under(value: str, branch: str) -> bool:
    """`value` is `branch` or lies below it, parts being divided by `/`."""
    return value == branch or value.startswith(branch + "/")


def made(note: NoteView) -> Stamp | None:
    """When a note was made: its `created_at`, else the date in its file's name, else the first day of its folder's
    week or month; None when nothing says it.
    """
    if day := _day_here(note.created_at or ""):
        return Stamp(day, note.created_at or "")
    if day := _day(_DAY.search(note.path.rpartition("/")[2])):
        return Stamp(day, day.isoformat(), "file name")
    if match := _WEEK.match(note.path):
        day = _date(match[1], match[2], int(match[3]) * 7 - 6)
    elif match := _MONTH.match(note.path):
        day = _date(match[1], match[2], 1)
    return Stamp(day, day.isoformat(), "folder") if day else None


def changed(note: NoteView) -> Stamp | None:
    """When a note was changed last: its `updated_at`, else when it was made."""
    if day := _day_here(note.updated_at or ""):
        return Stamp(day, note.updated_at or "")
    return made(note)


def _day_here(written: str) -> date | None:
    """The day that a time is on in this machine's zone; one without a zone is taken as it is written."""
    day = _day(_DAY.match(written))
    try:
        moment = datetime.fromisoformat(written)
        return local(moment).date() if day and moment.tzinfo else day
    except (ValueError, OverflowError, OSError):  # no time of ISO 8601; before or after what a system knows
        return day


def _day(match: re.Match[str] | None) -> date | None:
    return _date(*match.groups()) if match else None


def _date(year: str, month: str, day: str | int) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def bucket(note: NoteView) -> str:
    """The time bucket: `2026/05/week2` as its folder says, else by its date, else its folder's month or `undated`."""
    if match := _WEEK.match(note.path):
        return match[0][:-1]
    stamp = made(note)
    if stamp is None:
        return "undated"
    month = f"{stamp.day:%Y/%m}"
    return month if stamp.origin == "folder" else f"{month}/week{(stamp.day.day - 1) // 7 + 1}"


def haystack(note: NoteView) -> str:
    """The text a filter looks into: name, description, tags with `#`, id and path, case folded."""
    tags = " ".join("#" + tag for tag in note.tags)
    return "\n".join((note.name, note.description, tags, note.id or "", note.path, note.status)).casefold()


def words(text: str) -> tuple[str, ...]:
    """A filter's words, case folded; all of them have to occur."""
    return tuple(text.casefold().split())


def matching(
    notes: Iterable[NoteView], haystacks: Mapping[str, str], wanted: Sequence[str]
) -> list[NoteView]:
    """The notes whose haystack holds every wanted word, in their order."""
    found = list(notes)
    for word in wanted:
        found = [note for note in found if word in haystacks[note.path]]
    return found


SORTS: Mapping[str, Callable[[NoteView], tuple[bool, str]]] = {
    "updated": lambda note: (False, stamp.text) if (stamp := changed(note)) else (True, ""),
    "name": lambda note: (False, note.name.casefold()),
    "tags": lambda note: (not note.tags, " ".join(note.tags)),
    "status": lambda note: (False, note.status),
    "path": lambda note: (False, note.path),
}
"""Sort keys by column: whether the field is missing (those come last), then the text."""


def sorted_notes(notes: Iterable[NoteView], column: str, is_descending: bool) -> list[NoteView]:
    """The notes by one column, those without it last, ties by path."""
    key = SORTS[column]
    by_path = sorted(notes, key=lambda note: note.path)
    ordered = sorted(by_path, key=lambda note: key(note)[1], reverse=is_descending)
    return sorted(ordered, key=lambda note: key(note)[0])


def notes_per_tag(notes: Iterable[NoteView]) -> Counter[str]:
    """How many notes lie under each tag, parents of nested tags (`project` of `project/march`) included."""
    counts: Counter[str] = Counter()
    for note in notes:
        counts.update({branch for tag in note.tags for branch in branches(tag)})
    return counts


def notes_per_time(notes: Iterable[NoteView]) -> Counter[str]:
    """How many notes lie in each year, month and week."""
    counts: Counter[str] = Counter()
    for note in notes:
        counts.update(branches(bucket(note)))
    return counts


def branches(value: str) -> list[str]:
    """A nested value and its parents: `a/b` → `a`, `a/b`."""
    parts = value.split("/")
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]


def per_week(notes: Iterable[NoteView], today: date, weeks: int) -> list[tuple[date, int]]:
    """How many notes were made in each of `weeks` weeks (their Mondays), oldest first.

    The last week is this one; when nothing was made in all these weeks, it is the newest note's.
    """
    days = [stamp.day for note in notes if (stamp := made(note)) and stamp.day <= today]
    newest = max(days, default=today)
    end = today if newest > today - timedelta(weeks=weeks - 1) else newest
    monday = end - timedelta(days=end.weekday())
    starts = [monday - timedelta(weeks=back) for back in range(weeks - 1, -1, -1)]
    counts = Counter(day - timedelta(days=day.weekday()) for day in days)
    return [(start, counts[start]) for start in starts]


@dataclass(frozen=True, slots=True)
class Mark:
    """What tells a note from others of its name. They have the text before `start` in common."""

    text: str
    start: int

    @property
    def short(self) -> str:
        """The part that differs, with what follows it."""
        return "…" + self.text[self.start :] if self.start else self.text


def told_apart(notes: Iterable[tuple[str, str, str]]) -> Mapping[str, Mark]:
    """What tells notes with one name apart, by path: the file's name without `.md`, else the id, else the path.

    Notes come as path, name and id. Those whose name no other of them has are missing.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for path, name, key in notes:
        groups.setdefault(name, []).append((path, key))
    found: dict[str, Mark] = {}
    for members in groups.values():
        if len(members) > 1:
            paths = [path for path, _ in members]
            texts = _telling(paths, [key for _, key in members])
            start = len(_NAME_END.sub("", _shared(texts)))
            found.update((path, Mark(text, start)) for path, text in zip(paths, texts, strict=True))
    return found


def _telling(paths: Sequence[str], ids: Sequence[str]) -> Sequence[str]:
    stems = [path.rpartition("/")[2].removesuffix(".md") for path in paths]
    return next((texts for texts in (stems, ids) if len(set(texts)) == len(paths)), paths)


def _shared(texts: Sequence[str]) -> str:
    """What all texts begin with."""
    first, last = min(texts), max(texts)
    pairs = enumerate(zip(first, last, strict=False))
    return first[: next((at for at, (one, other) in pairs if one != other), min(len(first), len(last)))]


def folders(paths: Iterable[str]) -> list[str]:
    """The folders that hold these paths, and their parents, sorted."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        if folder:
            found.update(branches(folder))
    return sorted(found)
