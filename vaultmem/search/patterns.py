"""What a text search looks for: one line of text or a regular expression, in composed and decomposed letters."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from vaultmem.errors import UsageError
from vaultmem.text.shown import is_text

PATTERN_CHARS = 30_000  # an argument of a program holds 128 KiB

_BLANK_FORM = "give a word, a phrase or a regular expression"
_REGEX_PARTS = re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|[^\x00-\x7f]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A query of text search. Make it with `Pattern.of`."""

    text: str
    is_fixed: bool

    @classmethod
    def of(cls, text: str, *, is_fixed: bool = False) -> Pattern:
        """Return the pattern for a query; raises UsageError for one that is blank, long, no text or several lines."""
        if not isinstance(text, str) or not text.strip():
            raise UsageError("the search pattern is empty", advice=_BLANK_FORM)
        if "\n" in text or "\r" in text:
            raise UsageError(
                "the search pattern has several lines", advice="search goes by line: give one line of it"
            )
        if "\0" in text:
            raise UsageError("the search pattern holds a NUL character", advice=_BLANK_FORM)
        if not is_text(text):
            raise UsageError(
                "the search pattern is not UTF-8 text", advice="notes are UTF-8: give the pattern in it"
            )
        if len(text) > PATTERN_CHARS:
            raise UsageError(
                f"the search pattern has {len(text)} characters",
                advice=f"give a part of it, at most {PATTERN_CHARS}",
            )
        return cls(text, is_fixed)

    def forms(self) -> tuple[str, ...]:
        """Return the alternatives that are searched for, so that "é" is found as one code point or two."""
        composed = unicodedata.normalize("NFC", self.text)
        if not self.is_fixed:
            return tuple(dict.fromkeys((_in_either_form(composed), self.text)))
        return tuple(dict.fromkeys((composed, unicodedata.normalize("NFD", self.text), self.text)))

    def compiled(self) -> tuple[re.Pattern[str], ...]:
        """Return the alternatives for Python's `re`; raises UsageError with its words for what it cannot read."""
        try:
            return tuple(re.compile(re.escape(form) if self.is_fixed else form) for form in self.forms())
        except (re.error, RecursionError, OverflowError) as error:
            raise bad_expression(str(error), "Python") from error


def bad_expression(words: str, program: str) -> UsageError:
    """Return the error for a text that `program` cannot read as a regular expression, in its own words."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    reasons = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    return UsageError(
        f"{program} cannot read this regular expression: {(reasons or lines or [words])[-1 if reasons else 0]}",
        advice="correct it, or use --fixed to search for the text as it is",
    )


def _in_either_form(pattern: str) -> str:
    """Let every composed letter of a regular expression match its decomposed form too; classes stay as they are."""

    def either(match: re.Match[str]) -> str:
        part = match[0]
        decomposed = unicodedata.normalize("NFD", part) if len(part) == 1 else part
        return part if decomposed == part else f"(?:{part}|{decomposed})"

    return _REGEX_PARTS.sub(either, pattern)
