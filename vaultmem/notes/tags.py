"""Tags: their normal form, and how several are told apart in one text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_COMMAS = re.compile("[,，、]")


def normalise_tags(values: Iterable[str]) -> tuple[str, ...]:
    """Normalise each tag; empties and repeats are dropped, the order of first appearance is kept."""
    return tuple(dict.fromkeys(tag for tag in map(normalise_tag, values) if tag))


def normalise_tag(text: str) -> str:
    """The normal form of one tag, or "" when nothing of it can be kept.

    NFKC, trimmed, leading `#` dropped, lower case, inner white space to `-`, letters (with their marks) and
    digits of any script and `/ - _` kept. Applying it again changes nothing.
    """
    while (normal := _normalise_once(text)) != text:
        text = normal
    return normal


def split_tag_text(text: str) -> list[str]:
    """Split tags given as one text: at commas (also `，` and `、`) if there are any, else at white space."""
    return _COMMAS.split(text) if _COMMAS.search(text) else text.split()


def _normalise_once(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).strip().lstrip("#").strip().lower()
    dashed = "-".join(folded.split())
    kept = "".join(c for c in dashed if c in "/-_" or unicodedata.category(c)[0] in "LMN")
    # Dropping a character can bring a letter and an accent together.
    return unicodedata.normalize("NFKC", kept)
