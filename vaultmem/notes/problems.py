"""What can be wrong with a note: the codes that docs/cli.md lists, and a problem as a value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
    """One code per cause; a note can carry several. Severity and wording live in `vaultmem.notes.diagnostics`."""

    BAD_YAML = "bad_yaml"
    DUPLICATE_KEY = "duplicate_key"
    BAD_ENCODING = "bad_encoding"
    UNREADABLE = "unreadable"
    CONFLICT_ID = "conflict_id"
    INVALID_ID = "invalid_id"
    INVALID_STATUS = "invalid_status"
    MERGE_CONFLICT = "merge_conflict"
    ROOT_MISSING = "root_missing"
    MISSING_DESCRIPTION = "missing_description"
    SYNC_CONFLICT_COPY = "sync_conflict_copy"
    TAG_INVALID = "tag_invalid"
    NO_TAGS = "no_tags"
    TOO_LARGE = "too_large"
    CLOUD_PLACEHOLDER = "cloud_placeholder"
    TEMPLATE_PLACEHOLDER = "template_placeholder"
    MISSING_STATUS = "missing_status"
    LOST_VERSION = "lost_version"
    MISSING_ID = "missing_id"
    MISSING_NAME = "missing_name"
    DEPRECATED = "deprecated"
    EMPTY_FILE = "empty_file"


@dataclass(frozen=True, slots=True)
class Problem:
    """One fact found while reading one file. `line` and `column` count from 1 in the file."""

    code: Code
    detail: str = ""
    line: int | None = None
    column: int | None = None


_IN_THE_WAY = frozenset(
    {
        Code.BAD_YAML,
        Code.DUPLICATE_KEY,
        Code.MERGE_CONFLICT,
        Code.BAD_ENCODING,
        Code.UNREADABLE,
        Code.CLOUD_PLACEHOLDER,
    }
)
"""While its metadata cannot be read for sure, a note is not edited by us: it is mended in an editor first."""


def is_editable(codes: Iterable[Code]) -> bool:
    """Whether a note with these problems may be edited."""
    return _IN_THE_WAY.isdisjoint(codes)


def obstacle(problems: Iterable[Problem]) -> Problem | None:
    """The problem for which a note may not be edited, or None."""
    return next((problem for problem in problems if not is_editable((problem.code,))), None)
