"""Diagnostics as a list to work through: grouped by code, filtered, folded; and which key mends what. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tui.models.shelf import branches, under, words

if TYPE_CHECKING:
    from vaultmem.notes.diagnostics import Diagnostic

SEVERITY_ORDER = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Finding:
    """One diagnostic as a row; `key` tells it from every other, also from others of the same note and code."""

    key: str
    code: str
    severity: str
    path: str
    id: str | None
    message: str
    fix: str
    line: int | None
    column: int | None


@dataclass(frozen=True, slots=True)
class Group:
    """The heading over the findings of one code."""

    code: str
    severity: str
    count: int
    is_folded: bool

    @property
    def key(self) -> str:
        """The row's key."""
        return self.key_of(self.code)

    @staticmethod
    def key_of(code: str) -> str:
        """The key of the heading over this code's findings."""
        return f"group:{code}"


@dataclass(frozen=True, slots=True)
class Findings:
    """All findings and what is shown of them."""

    found: tuple[Finding, ...] = ()
    text: str = ""
    severity: str = ""
    folder: str = ""
    folded: frozenset[str] = field(default_factory=frozenset)

    def with_diagnostics(self, diagnostics: Sequence[Diagnostic]) -> Findings:
        """The same view of other findings."""
        return replace(self, found=tuple(_findings(diagnostics)))

    def narrowed(
        self, *, text: str | None = None, severity: str | None = None, folder: str | None = None
    ) -> Findings:
        """Another filter; what is None stays as it is."""
        return replace(
            self,
            text=self.text if text is None else text,
            severity=self.severity if severity is None else severity,
            folder=self.folder if folder is None else folder,
        )

    def folding(self, group_key: str) -> Findings:
        """Fold a group that is open, open one that is folded."""
        return replace(self, folded=self.folded ^ {group_key})

    @property
    def visible(self) -> list[Finding]:
        """The findings that pass the filters, folded or not."""
        wanted = words(self.text)
        return [each for each in self.found if self._passes(each, wanted)]

    @property
    def shown(self) -> int:
        """How many findings pass the filters."""
        return len(self.visible)

    def _passes(self, each: Finding, wanted: Sequence[str]) -> bool:
        if self.severity and each.severity != self.severity:
            return False
        if self.folder and not under(each.path.rpartition("/")[0], self.folder):
            return False
        text = "\n".join(
            (each.path, each.id or "", each.message, each.code, each.code.replace("_", " "))
        ).casefold()
        return all(word in text for word in wanted)

    def rows(self) -> list[Group | Finding]:
        """Headings and findings: the gravest first, then the most frequent."""
        groups: dict[str, list[Finding]] = {}
        for each in self.visible:
            groups.setdefault(each.code, []).append(each)
        rows: list[Group | Finding] = []
        for code, members in sorted(groups.items(), key=lambda pair: _rank(pair[1])):
            key = Group.key_of(code)
            rows.append(Group(code, members[0].severity, len(members), key in self.folded))
            if key not in self.folded:
                rows.extend(in_order(members))
        return rows

    def folder_counts(self) -> Mapping[str, int]:
        """How many findings lie under each folder."""
        counts: Counter[str] = Counter()
        for each in self.found:
            folder = each.path.rpartition("/")[0]
            if folder:
                counts.update(branches(folder))
        return counts


def _findings(diagnostics: Sequence[Diagnostic]) -> list[Finding]:
    seen: Counter[str] = Counter()
    found = []
    for each in diagnostics:
        base = f"{each.code}:{each.path}"
        seen[base] += 1
        key = f"{base}:{seen[base]}"
        found.append(
            Finding(
                key,
                str(each.code),
                str(each.severity),
                each.path,
                each.id,
                each.message,
                each.fix,
                each.line,
                each.column,
            )
        )
    return found


def in_order(members: Sequence[Finding]) -> list[Finding]:
    """Findings of one code, by path."""
    return sorted(members, key=lambda each: each.path)


def _rank(members: Sequence[Finding]) -> tuple[int, int, str]:
    severity = members[0].severity
    order = SEVERITY_ORDER.index(severity) if severity in SEVERITY_ORDER else len(SEVERITY_ORDER)
    return order, -len(members), members[0].code


@dataclass(frozen=True, slots=True)
class Fix:
    """A key that mends something, the words beside it, and the pane's action behind it."""

    key: str
    label: str
    action: str


_EDITOR = Fix("e", "open in the editor", "open_editor")
_OBSIDIAN = Fix("o", "open in Obsidian", "open_obsidian")
_TAGS = Fix("t", "edit the tags", "edit_tags")
_NEW_ID = Fix("a", "give it a new id", "adopt")
_ACTIVATE = Fix("", "write status: active", "write_active")
_DEPRECATE = Fix("d", "deprecate it", "deprecate")
_TRASH = Fix("x", "move to the trash", "trash")
_CONFLICT = Fix("c", "compare the copies", "resolve")
_FIXES: Mapping[str, tuple[Fix, ...]] = {
    "conflict_id": (_CONFLICT, _NEW_ID, _DEPRECATE, _TRASH),
    "sync_conflict_copy": (_CONFLICT, _NEW_ID, _TRASH, _EDITOR),
    "missing_description": (Fix("w", "write a description", "describe"), _EDITOR),
    "missing_id": (_NEW_ID, _EDITOR),
    "invalid_id": (_NEW_ID, _EDITOR),
    "deprecated": (Fix("d", "make it active again", "activate"), _EDITOR, _OBSIDIAN),
    "missing_status": (_ACTIVATE, _EDITOR),
    "invalid_status": (_ACTIVATE, _DEPRECATE, _EDITOR),
    "no_tags": (_TAGS, _EDITOR),
    "tag_invalid": (_TAGS, _EDITOR),
    "empty_file": (_EDITOR, _TRASH),
}


def fixes_for(code: str) -> tuple[Fix, ...]:
    """The fixes of a code, the usual one first; what only a person can mend is opened in the editor."""
    return _FIXES.get(code, (_EDITOR, _OBSIDIAN))
