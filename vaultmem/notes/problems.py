"""What can be wrong with a note: the codes of CONTRACT.md, and a problem as a value."""

from __future__ import annotations

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
