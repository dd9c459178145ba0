"""A note's version as a document of the lexical index: its fields, its terms with their counts, and a hit of it.

Its terms are indexed, and find it; its bag, the same terms with their counts, is stored, and counts: the back end hands
out no term frequencies. Pure: the store itself knows the back end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FIELDS = ("note_key", "version", "length", "terms", "bag")
_SEPARATOR = "\n"


@dataclass(frozen=True, slots=True)
class LexicalDoc:
    """One version of a note: its terms with their counts. Terms hold no white space."""

    note_key: int
    digest: str
    terms: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """One version of a note and the counts of the query terms in it; `length` is the sum of all its counts."""

    note_key: int
    digest: str
    counts: Mapping[str, int]
    length: int


def bag_text(terms: Mapping[str, int]) -> str:
    """Terms that are `safe` with their counts, as one text that is stored."""
    return "".join(f"{_SEPARATOR}{term} {count}" for term, count in terms.items()) + _SEPARATOR


def bag_of(doc: Any) -> dict[str, int]:
    """The terms of a document with their counts, as the index holds them."""
    bag = bytes(doc.get_first("bag")).decode()
    entries = (entry.rpartition(" ") for entry in bag.split(_SEPARATOR) if entry)
    return {term: int(count) for term, _, count in entries}


def needles(terms: Sequence[str]) -> list[tuple[str, str]]:
    """Each term with what stands before its count in a bag."""
    return [(term, f"{_SEPARATOR}{safe(term)} ") for term in terms]


def hit_of(doc: Any, wanted: Sequence[tuple[str, str]]) -> LexicalHit:
    """What a stored document holds of the `wanted` terms, given as `needles` makes them."""
    bag = bytes(doc.get_first("bag")).decode()
    counts: dict[str, int] = {}
    for term, needle in wanted:
        start = bag.find(needle)
        if start >= 0:
            start += len(needle)
            counts[term] = int(bag[start : bag.index(_SEPARATOR, start)])
    note_key, digest = parse_version(doc.get_first("version"))
    return LexicalHit(note_key, digest, counts, int(doc.get_first("length")))


def version_of(note_key: int, digest: str) -> str:
    """The term by which a version is found and deleted."""
    return f"{note_key}:{digest}"


def parse_version(version: str) -> tuple[int, str]:
    """The note's key and digest of a version's term. Raises ValueError."""
    note_key, _, digest = version.partition(":")
    return int(note_key), digest


def safe(term: str) -> str:
    """`term` with what would break a token or the bag escaped, so that any text is one token."""
    if _UNSAFE.search(term) is None:
        return term
    return _UNSAFE.sub(lambda found: f"\\{ord(found[0]):x};", term)


_UNSAFE = re.compile("[\x00-\x20\\\\\ud800-\udfff]")
"""Control characters and ASCII space, surrogates (UTF-8 cannot hold them), and the backslash that escapes them."""
