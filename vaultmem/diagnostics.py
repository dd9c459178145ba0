"""Facts → Diagnostics: what is wrong with a note, where, and how to mend it.

`CHECKS` is the whole list of codes with severity and wording. What can be derived from a note's facts (a missing
description, no tags, deprecated, a conflict) is derived here and stored nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from vaultmem.names import sync_copy_of
from vaultmem.notes import Status
from vaultmem.problems import Code, Problem


class Severity(StrEnum):
    """ERROR: not recalled until mended. WARNING: works less well than it could. INFO: good to know."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem of one note (or of the root): what and where in `message`, how to mend it in `fix`."""

    code: Code
    severity: Severity
    path: str
    id: str | None
    message: str
    fix: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class NoteFacts:
    """What the checks look at."""

    path: str
    id: str | None
    name: str
    description: str
    tags: tuple[str, ...]
    status: Status
    problems: tuple[Problem, ...]
    conflict_paths: tuple[str, ...]  # the other notes with the same id
    is_admitted: bool


@dataclass(frozen=True, slots=True)
class Check:
    """Severity and wording of one code. `{path}`, `{id}`, `{detail}` and `{at}` ("line 4, column 7") are filled in."""

    severity: Severity
    message: str
    fix: str


def _error(message: str, fix: str) -> Check:
    return Check(Severity.ERROR, message, fix)


def _warning(message: str, fix: str) -> Check:
    return Check(Severity.WARNING, message, fix)


def _info(message: str, fix: str) -> Check:
    return Check(Severity.INFO, message, fix)


CHECKS: Mapping[Code, Check] = MappingProxyType(
    {
        Code.BAD_YAML: _error(
            "the metadata block cannot be read at {at}: {detail}",
            "correct {where}; a value with `: `, ` #` or a special first character belongs in quotes",
        ),
        Code.DUPLICATE_KEY: _error(
            "a field is there twice, at {at}: {detail}", "delete one of the two lines"
        ),
        Code.BAD_ENCODING: _error(
            "the file is not UTF-8 text, at {at}: {detail}",
            "save it as UTF-8 in your editor; it was not changed",
        ),
        Code.UNREADABLE: _error(
            "the file cannot be read: {detail}",
            "make it readable (permissions, disk, name); what was known of it is kept",
        ),
        Code.CONFLICT_ID: _error(
            "the id {id} is also in {detail}; none of them is recalled",
            "give one a new id (`vaultmem adopt PATH`), or move the superfluous one to the trash",
        ),
        Code.INVALID_ID: _error(
            "the id at {at} cannot be used: {detail}",
            "give it one line of 1 to 128 characters without control characters",
        ),
        Code.INVALID_STATUS: _error(
            "the status at {at} is {detail!r}, so the note is not recalled",
            "write `status: active` or `status: deprecated`",
        ),
        Code.MERGE_CONFLICT: _error(
            "an unfinished git merge at {at}: {detail}", "finish the merge and delete its markers"
        ),
        Code.ROOT_MISSING: _error(
            "the memory root {path} cannot be used: {detail}",
            "mount or restore it, or point --root / MARCH_MEMORY_ROOT at the right folder; what was known is kept",
        ),
        Code.MISSING_DESCRIPTION: _warning(
            "{name!r} has no description, so it can be opened and searched but is never hinted",
            "add one line `description: …` that says what the memory is good for",
        ),
        Code.SYNC_CONFLICT_COPY: _warning(
            "the file looks like a sync tool's copy of {detail}",
            "compare the two, keep what is right, and trash the copy",
        ),
        Code.TAG_INVALID: _warning(
            "a tag at {at} is left out: {detail}",
            "write it with letters, digits, `/`, `-` or `_`, one tag an item",
        ),
        Code.NO_TAGS: _warning("{name!r} has no tags", "add at least one: `vaultmem tag {id} --add TAG`"),
        Code.TOO_LARGE: _warning(
            "the note is {detail} long; only the first MiB of its body is indexed",
            "split it into several memories",
        ),
        Code.CLOUD_PLACEHOLDER: _warning(
            "the note is not on this machine: {detail}",
            "download it in your sync tool, or open it once in Obsidian",
        ),
        Code.TEMPLATE_PLACEHOLDER: _warning(
            "a template's placeholder was never filled in at {at}: {detail}",
            "replace it, or move the template elsewhere",
        ),
        Code.MISSING_STATUS: _warning(
            "the note has no status and counts as active", "add the line `status: active`"
        ),
        Code.MISSING_ID: _info(
            "the note has no id, so it is no memory{detail}",
            "if it should be one: `vaultmem adopt PATH`; else leave it",
        ),
        Code.MISSING_NAME: _info("the note has no name; {detail} stands in for it", "add the line `name: …`"),
        Code.DEPRECATED: _info(
            "{name!r} is deprecated and not recalled", "`vaultmem activate {id}` takes it back"
        ),
        Code.EMPTY_FILE: _info("the file is empty", "write it, or delete it"),
    }
)

SEVERITY: Mapping[Code, Severity] = MappingProxyType({code: check.severity for code, check in CHECKS.items()})

_ORDER = {code: number for number, code in enumerate(CHECKS)}


def diagnose(facts: NoteFacts) -> tuple[Diagnostic, ...]:
    """Return everything that is to be said about one note, errors first."""
    problems = sorted((*facts.problems, *_derived(facts)), key=lambda problem: _ORDER[problem.code])
    return tuple(_diagnostic(facts, problem) for problem in problems)


def diagnose_root(root: Path, reason: str) -> Diagnostic:
    """Return the diagnostic for a memory root that is gone or cannot be read."""
    check = CHECKS[Code.ROOT_MISSING]
    message = check.message.format(path=root, detail=reason)
    return Diagnostic(Code.ROOT_MISSING, check.severity, "", None, message, check.fix)


def _derived(facts: NoteFacts) -> list[Problem]:
    if facts.id is None:
        return []
    found = []
    if facts.conflict_paths:
        found.append(Problem(Code.CONFLICT_ID, ", ".join(facts.conflict_paths)))
    if original := sync_copy_of(facts.path, facts.conflict_paths):
        found.append(Problem(Code.SYNC_CONFLICT_COPY, original))
    if not facts.description:
        found.append(Problem(Code.MISSING_DESCRIPTION))
    if not facts.tags:
        found.append(Problem(Code.NO_TAGS))
    if facts.status is Status.DEPRECATED:
        found.append(Problem(Code.DEPRECATED))
    return found


def _diagnostic(facts: NoteFacts, problem: Problem) -> Diagnostic:
    check = CHECKS[problem.code]
    values = {
        "path": facts.path,
        "id": facts.id,
        "name": facts.name,
        "detail": _detail(problem),
        "at": _at(problem),
        "where": f"line {problem.line}" if problem.line else "the block",
    }
    message, fix = (
        check.message.format(**values),
        check.fix.format(**values).replace("PATH", _quoted(facts.path)),
    )
    return Diagnostic(
        problem.code, check.severity, facts.path, facts.id, message, fix, problem.line, problem.column
    )


def _detail(problem: Problem) -> str:
    if problem.code is Code.MISSING_ID:
        return f": {problem.detail}" if problem.detail else ""
    return problem.detail


def _at(problem: Problem) -> str:
    if problem.line is None:
        return "an unknown place"
    return f"line {problem.line}" + (f", column {problem.column}" if problem.column else "")


def _quoted(path: str) -> str:
    return f'"{path}"' if " " in path else path
