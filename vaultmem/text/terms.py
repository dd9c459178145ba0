"""Text → lexical terms: CJK pairs, words of other scripts, identifiers whole and in parts.

Text is folded (NFKC) and lower-cased. A run of CJK characters becomes its overlapping pairs (a lone character
stays itself), so no dictionary is needed. Whatever is written in one piece with `_ - . / : @` inside, or in
camelCase, is a term as a whole beside its parts: `src/app.py` is also `src`, `app` and `py`. Runs end
where the script changes, so `用Python写` holds `python`.

Documents keep every term. Queries lose stop words and repeats, see `query_terms`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

from vaultmem.data.shipped import read_words
from vaultmem.text.folding import folded

TERMS = "terms-2"
"""Fingerprint of what this module makes of a text; a change means that the lexical store is built again."""

METADATA_WEIGHT = 2
"""How many times name, description and tags count in a document's terms."""

LONGEST_TERM = 120
"""Characters; a longer piece (base64, minified code) is no word that anyone would ask for."""

CJK = (
    "\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
WORD = rf"[^\W{CJK}]"
"""One character of a word in a script with blanks between words, as a regular expression."""
_PIECE = re.compile(
    rf"(?P<cjk>[{CJK}]+)"
    rf"|(?P<piece>(?:(?<![^\W{CJK}])(?<![/.-])(?:--?|\.{{0,2}}/\.?|~/\.?|\$|\.|@))?{WORD}+(?:(?:::|:\\|/\.|[-./\\:@'’#]){WORD}+)*(?:\+\+|\#)?)"
)
_PARTS = re.compile(rf"{WORD}+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_POSSESSIVE = re.compile(r"['’](?:s|S|t|T|re|ve|ll|d|m)$")


def terms(text: str) -> list[str]:
    """The terms of a document's text in order, with repeats."""
    return list(_terms(folded(text)))


def query_terms(text: str) -> list[str]:
    """The distinct terms of a query in order, without stop words.

    Chinese stop phrases (`怎么`, `为什么`) end a run, so that no pair is made across them. A CJK character that is
    left alone says too little beside other terms and counts only where there are none.
    """
    plain = _chinese_stops().sub(" ", folded(text))
    found = [term for term in dict.fromkeys(_terms(plain)) if term not in stop_words()]
    return [term for term in found if len(term) > 1 or term.isascii()] or found


def whole_terms(text: str) -> frozenset[str]:
    """Those terms of a text that are a whole with parts beside it (`src/app.py`)."""
    pieces = (match["piece"] for match in _PIECE.finditer(folded(text)))
    found = (list(_whole_and_parts(piece)) for piece in pieces if piece)
    return frozenset(names[0] for names in found if len(names) > 1)


def document_terms(name: str, description: str, tags: Iterable[str], body: str) -> Counter[str]:
    """How often each term counts in a note: the metadata twice, the body once."""
    counts = Counter(terms(body))
    for term in terms("\n".join((name, description, *tags))):
        counts[term] += METADATA_WEIGHT
    return counts


@cache
def stop_words() -> frozenset[str]:
    """Words that carry no topic, in both languages."""
    return frozenset(read_words("stop_words.txt"))


@cache
def _chinese_stops() -> re.Pattern[str]:
    phrases = sorted((word for word in stop_words() if not word.isascii()), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, phrases)))


def _terms(folded: str) -> Iterator[str]:
    for match in _PIECE.finditer(folded):
        run = match["cjk"]
        yield from _pairs(run) if run else _whole_and_parts(match["piece"])


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for start in range(len(run) - 1):
        yield run[start : start + 2]


def _whole_and_parts(piece: str) -> Iterator[str]:
    """The piece itself when it is more than one plain word, then its words."""
    piece = _POSSESSIVE.sub("", piece)
    whole = piece.lower()
    parts = [part.lower() for word in _PARTS.findall(piece) for part in _words(word)]
    if parts != [whole] and len(whole) <= LONGEST_TERM:
        yield whole
    yield from (part for part in parts if len(part) <= LONGEST_TERM)


def _words(word: str) -> Iterator[str]:
    """`maxRetry_count` → `max`, `Retry`, `count`."""
    for snake in word.split("_"):
        if snake:
            yield from _HUMP.split(snake)
