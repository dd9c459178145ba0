"""The words, signs and colours the screen uses for states, severities and verdicts: never a colour alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tui.looks.formatting import MUTED


@dataclass(frozen=True, slots=True)
class Sign:
    """How one fact is shown: a glyph, a word, and a style that repeats what they say."""

    glyph: str
    word: str
    style: str

    def __str__(self) -> str:
        return f"{self.glyph} {self.word}"


SEVERITIES: Mapping[str, Sign] = {
    "error": Sign("✖", "error", "$text-error"),
    "warning": Sign("▲", "warning", "$text-warning"),
    "info": Sign("•", "info", MUTED),
}

VERDICTS: Mapping[str, Sign] = {
    "hinted": Sign("●", "hinted", "$text-success"),
    "below_threshold": Sign("○", "below", MUTED),
    "over_limit": Sign("◌", "over limit", "$text-warning"),
    "suppressed": Sign("◐", "given", "$text-warning"),
    "deprecated": Sign("×", "not active", MUTED),
    "conflict": Sign("≠", "conflict", "$text-error"),
    "no_description": Sign("…", "no description", "$text-warning"),
}

STATES: Mapping[str, Sign] = {
    "starting": Sign("◌", "starting", MUTED),
    "idle": Sign("●", "idle", "$text-success"),
    "scanning": Sign("◍", "scanning", "$text-accent"),
    "indexing": Sign("◍", "indexing", "$text-accent"),
    "embedding": Sign("◐", "embedding", "$text-accent"),
    "degraded": Sign("▲", "degraded", "$text-warning"),
    "never_synced": Sign("○", "not synced yet", "$text-warning"),
    "root_missing": Sign("✖", "memory folder missing", "$text-error"),
    "error": Sign("✖", "error", "$text-error"),
}

STATUSES: Mapping[str, Sign] = {
    "active": Sign("●", "active", "$text-success"),
    "deprecated": Sign("×", "deprecated", MUTED),
    "invalid": Sign("?", "invalid", "$text-error"),
}


def sign(table: Mapping[str, Sign], key: str) -> Sign:
    """The sign for `key`; a word without a sign of its own is shown as it is."""
    return table.get(key) or Sign("·", key.replace("_", " "), "")


def title(code: str) -> str:
    """A diagnostics code as a heading: `missing_description` → `Missing description`."""
    return code.replace("_", " ").capitalize().replace("yaml", "YAML").replace(" id", " id")
