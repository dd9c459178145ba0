"""Facts → Diagnostics: what is wrong with a note, where, and how to mend it.

`WORDINGS` is the whole list of codes with severity and wording. What can be derived from a note's facts (a missing
description, no tags, deprecated, a conflict) is derived here and stored nowhere.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from vaultmem.notes import block
from vaultmem.notes.block import NO_FIELDS, NOT_ON_LINE_1, ODD_FENCES, SECOND_BLOCK
from vaultmem.notes.metadata import Metadata, Status
from vaultmem.notes.names import sync_copy_of
from vaultmem.notes.problems import Code, Problem


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
    diff: str = ""
    """From the note to the other version that the problem speaks of."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Severity and wording of one code. `{path}`, `{id}`, `{detail}`, `{at}`… are filled in by `_diagnostic`."""

    severity: Severity
    message: str
    fix: str


def _error(message: str, fix: str) -> Wording:
    return Wording(Severity.ERROR, message, fix)


def _warning(message: str, fix: str) -> Wording:
    return Wording(Severity.WARNING, message, fix)


def _info(message: str, fix: str) -> Wording:
    return Wording(Severity.INFO, message, fix)


WORDINGS: Mapping[Code, Wording] = MappingProxyType(
    {
        Code.BAD_YAML: _error("The metadata block cannot be read, {at}: {detail}.", "{yaml_fix}"),
        Code.DUPLICATE_KEY: _error("A field is there twice, {at}: {detail}.", "Delete one of the two lines."),
        Code.BAD_ENCODING: _error(
            "The file is not UTF-8 text, {at}: {detail}. It was left as it is.",
            "Save it as UTF-8 in your editor.",
        ),
        Code.UNREADABLE: _error(
            "The file cannot be read: {detail}. What was known of it is kept.",
            "Look at its permissions, its name and its disk; then sync again.",
        ),
        Code.CONFLICT_ID: _error(
            "The id {id} is also in {detail}; neither is searched or hinted.",
            "Give one of them a new id (`vaultmem adopt {path_word}`), or move the one too many to the trash.",
        ),
        Code.INVALID_ID: _error(
            "The id cannot be used, {at}: {detail}.",
            "Write one line of 1 to 128 characters, without control or invisible characters.",
        ),
        Code.INVALID_STATUS: _error(
            "The status is {detail!r}, {at}, so the note is not recalled.",
            "Write `status: active` or `status: deprecated`.",
        ),
        Code.MERGE_CONFLICT: _error(
            "A git merge was not finished, {at}: {detail}.",
            "Keep the right lines and delete the markers (<<<<<<<, =======, >>>>>>>).",
        ),
        Code.ROOT_MISSING: _error(
            "{detail}. What was known is kept.",
            "Mount or restore it, or point --root / MARCH_MEMORY_ROOT at the right folder; "
            "if the folder that lies there is the right one, run `vaultmem sync --full`.",
        ),
        Code.MISSING_DESCRIPTION: _warning(
            "{name!r} has no description: it can be opened and searched, but it is never hinted.",
            "Add a line `description: …` that says in one sentence what the memory tells.",
        ),
        Code.SYNC_CONFLICT_COPY: _warning(
            "The file looks like a sync tool's copy of {detail}.",
            "Compare the two, keep what is right, and move the copy to the trash.",
        ),
        Code.TAG_INVALID: _warning(
            "A tag is left out, {at}: {detail}.",
            "Write it with letters, digits or emoji, and `/`, `-` or `_` between them, one tag an item.",
        ),
        Code.NO_TAGS: _warning("{name!r} has no tags.", "Add one: `vaultmem tag {id_word} --add TAG`."),
        Code.TOO_LARGE: _warning(
            "The note is {detail} long; only the first MiB of its body is indexed.",
            "Split it into several memories.",
        ),
        Code.CLOUD_PLACEHOLDER: _warning(
            "The note is not on this machine: {detail}.",
            "Download it in your sync tool, or open it once in Obsidian.",
        ),
        Code.TEMPLATE_PLACEHOLDER: _warning(
            "A template's placeholder was never filled in, {at}: {detail}.",
            "Write the value; keep templates outside the memory root.",
        ),
        Code.MISSING_STATUS: _warning(
            "{name!r} has no status and counts as active.", "Add a line `status: active`."
        ),
        Code.LOST_VERSION: _warning(
            "Two saves met, and one of the versions has no name any more: it is kept as {detail}.",
            "Compare the two. Take over what is missing, or the whole of it"
            " (in the memory root: `cp {detail_word} {path_word}`); then delete it: `rm {detail_word}`.",
        ),
        Code.MISSING_ID: _info(
            "The note has no id, so it is no memory{detail}.",
            "{missing_id_fix}",
        ),
        Code.MISSING_NAME: _info("The note has no name; {detail} stands in for it.", "Add a line `name: …`."),
        Code.DEPRECATED: _info(
            "{name!r} is deprecated and not recalled.", "Take it back: `vaultmem activate {id_word}`."
        ),
        Code.EMPTY_FILE: _info("The file is empty.", "Write the note, or delete the file."),
    }
)

_MISSING_ID_FIXES = {
    NOT_ON_LINE_1: "Delete the blank lines above the block.",
    ODD_FENCES: "Write `---`, three dashes alone, on the line above the block and on the one below it.",
    NO_FIELDS: "Write the block as `key: value` lines, or leave the note as it is.",
    SECOND_BLOCK: "Make one block of the two.",
}
_YAML_FIXES = {
    block.COLON_INSIDE: 'Put the whole value of {where} in quotes: `key: "…"`.',
    block.SPECIAL_FIRST: 'Put the whole value of {where} in quotes: `key: "…"`.',
    block.TEXT_AFTER: "Put the whole value of {where} in quotes, and double the quotes inside it.",
    block.UNKNOWN_ALIAS: 'Put the value of {where} in quotes: `key: "*…"`.',
    block.EXPLICIT_TAG: "Put the value of {where} in quotes, or delete the tag.",
    block.KEY_IS_NO_TEXT: "Put the value of {where} in quotes, or fill in the template's placeholder.",
    block.TAB_INDENT: "Indent {where} with spaces.",
    block.OPEN_QUOTE: "Close the quote that opens on {where}; a quote inside the text is written twice.",
    block.BAD_ESCAPE: "Write a backslash between double quotes twice, or use single quotes, on {where}.",
    block.OPEN_LIST: "Close the list on {where} with `]`; an item with `#` or `:` belongs in quotes.",
    block.OPEN_BRACES: "Put the value of {where} in quotes, or close it with `}}`.",
    block.STRAY_LINE: "Write {where} as `key: value`, or indent it under the line it belongs to.",
    block.NO_VALUE: "Write the value on {where}, or delete the line.",
    block.UNCLOSED_BLOCK: "Add a line `---` below the last field.",
    block.CONTROL_CHARACTER: "Delete the invisible character on {where}.",
}

_SOME_YAML = "Correct {where}; a value with `: `, ` #` or a special first character belongs in quotes."
_ADOPT = "If it should be one: `vaultmem adopt {path_word}`; otherwise leave it."

SEVERITY: Mapping[Code, Severity] = MappingProxyType(
    {code: wording.severity for code, wording in WORDINGS.items()}
)

_ORDER = {code: number for number, code in enumerate(WORDINGS)}


def diagnose(
    path: str, metadata: Metadata, problems: Iterable[Problem], conflict_paths: tuple[str, ...] = ()
) -> tuple[Diagnostic, ...]:
    """Everything that is to be said about one note, errors first; `conflict_paths` are the others with its id."""
    found = (*problems, *_derived(path, metadata, conflict_paths))
    return tuple(
        _diagnostic(path, metadata, problem)
        for problem in sorted(found, key=lambda problem: _ORDER[problem.code])
    )


def diagnose_root(reason: str) -> Diagnostic:
    """The diagnostic for a memory root that cannot be used, which `reason` names."""
    wording = WORDINGS[Code.ROOT_MISSING]
    message = wording.message.format(detail=reason[:1].upper() + reason[1:])
    return Diagnostic(Code.ROOT_MISSING, wording.severity, "", None, message, wording.fix)


def diagnose_lost(path: str, note_id: str | None, place: str, diff: str) -> Diagnostic:
    """The diagnostic for a version of a note that was kept at `place`; `path` is `place` when the note is gone."""
    found = _diagnostic(path, Metadata(note_id), Problem(Code.LOST_VERSION, place))
    fix = found.fix if path != place else "Its note is gone. Move it to where it belongs, or delete it."
    return replace(found, fix=fix, diff=diff)


def _derived(path: str, metadata: Metadata, conflict_paths: tuple[str, ...]) -> Iterator[Problem]:
    """What follows from a note's facts. Nothing is demanded of a note without an id: it is no memory."""
    if metadata.id is None:
        return
    if conflict_paths:
        yield Problem(Code.CONFLICT_ID, ", ".join(conflict_paths))
    if original := sync_copy_of(path, conflict_paths):
        yield Problem(Code.SYNC_CONFLICT_COPY, original)
    if not metadata.description:
        yield Problem(Code.MISSING_DESCRIPTION)
    if not metadata.tags:
        yield Problem(Code.NO_TAGS)
    if metadata.status is Status.DEPRECATED:
        yield Problem(Code.DEPRECATED)


def _diagnostic(path: str, metadata: Metadata, problem: Problem) -> Diagnostic:
    wording, where = WORDINGS[problem.code], f"line {problem.line}" if problem.line else "the block"
    values = {
        "path": path,
        "path_word": shlex.quote(path),
        "id": metadata.id,
        "id_word": shlex.quote(metadata.id or ""),
        "name": metadata.name,
        "detail": _detail(problem),
        "detail_word": shlex.quote(problem.detail),
        "where": where,
        "at": where + (f", column {problem.column}" if problem.column else ""),
    }
    values["yaml_fix"] = _fix_for(problem, _YAML_FIXES, _SOME_YAML).format(**values)
    values["missing_id_fix"] = _fix_for(problem, _MISSING_ID_FIXES, _ADOPT).format(**values)
    message, fix = (_on_one_line(text.format(**values)) for text in (wording.message, wording.fix))
    return Diagnostic(
        problem.code, wording.severity, path, metadata.id, message, fix, problem.line, problem.column
    )


def _detail(problem: Problem) -> str:
    if problem.code is Code.MISSING_ID and problem.detail:
        return f": {problem.detail}"
    return problem.detail


def _fix_for(problem: Problem, fixes: Mapping[str, str], otherwise: str) -> str:
    return next((fix for beginning, fix in fixes.items() if problem.detail.startswith(beginning)), otherwise)


def _on_one_line(text: str) -> str:
    """Show characters that would break a line or a terminal as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
