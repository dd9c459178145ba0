"""A golden set for a vault that has none: proposed from its own notes, for its owner to review.

Names, descriptions, headings and tags become queries in whatever language they are written, so a memory that is
named in English and described in Chinese is asked for in both. Negatives are the shipped off-topic prompts. Since
the words are the notes' own, such a set flatters: its figures are a ceiling until the owner has put the queries
into the words that would really be asked.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

from vaultmem.data.shipped import read_words
from vaultmem.evaluation.golden import OFF_TOPIC, GoldenQuery, GoldenSet, HoldsMemories, Kind
from vaultmem.recall.prompt import has_content
from vaultmem.text.languages import script_language as language
from vaultmem.text.terms import query_terms

if TYPE_CHECKING:
    from vaultmem.views import NoteView

MOST_POSITIVES = 60
MOST_NEGATIVES = 30
FEWEST_TERMS = 2
"""A query needs so many terms, or whatever it finds is chance."""
MOST_TAGGED = 5
"""A tag is asked for when so many memories carry it at most."""

FEWEST_LETTERS = 3
"""Of a tag in Latin letters that is asked for."""

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_CLAUSE = re.compile(r"[。；;！!？?]|\.\s|，|, | [-–—] ")
_FORMS = {
    "zh": ("{}是怎么回事", "之前关于{}的结论是什么", "{}"),
    "en": ("what do we know about {}", "how did we deal with {}", "{}"),
}


def propose_golden(engine: HoldsMemories) -> GoldenSet:
    """Propose a golden set from the admitted memories; the same vault gives the same set."""
    memories = [note for note in engine.notes() if note.admitted and note.id]
    proposals = {
        "name": [_asked(note.name, note.id) for note in memories],
        "description": [_asked(_first_clause(note.description), note.id) for note in memories],
        "heading": list(_headings(engine, memories)),
        "tag": list(_tags(memories)),
    }
    found = [list(_distinct(filter(None, queries))) for queries in proposals.values()]
    positives = list(_distinct(_taken_in_turn(found, MOST_POSITIVES)))
    return GoldenSet((*positives, *_negatives(len(positives))))


def _headings(engine: HoldsMemories, memories: Iterable[NoteView]) -> Iterator[GoldenQuery | None]:
    """Each note's second heading with its name: the first repeats the name."""
    for note in memories:
        headings = _HEADING.findall(engine.open_memory(note.id or "").body)
        if len(headings) > 1:
            yield _asked(f"{note.name} {headings[1]}", note.id)


def _tags(memories: Sequence[NoteView]) -> Iterator[GoldenQuery | None]:
    """Pairs of tags that few memories carry together."""
    carriers: dict[tuple[str, str], list[str]] = defaultdict(list)
    for note in memories:
        plain = [tag.rpartition("/")[2] for tag in note.tags]
        plain = [tag for tag in plain if len(tag) >= FEWEST_LETTERS or not tag.isascii()]
        for pair in pairwise(plain):
            carriers[pair].append(note.id or "")
    for tags, ids in carriers.items():
        if len(ids) <= MOST_TAGGED:
            yield _asked(" ".join(tags), *ids, forms=("{}",))


def _asked(subject: str, *ids: str | None, forms: Sequence[str] = ()) -> GoldenQuery | None:
    """A query about a subject, in one of `forms` that the subject itself picks; None when it says too little."""
    subject = " ".join(subject.split()).strip("。.,，")
    if len(query_terms(subject)) < FEWEST_TERMS:
        return None
    forms = forms or _FORMS[language(subject)]
    text = forms[_lot(subject) % len(forms)].format(subject)
    relevant = tuple(note_id for note_id in ids if note_id)
    return GoldenQuery(text, relevant, Kind.POSITIVE, language(text), is_reviewed=False)


def _negatives(positives: int) -> Iterator[GoldenQuery]:
    prompts = sorted(filter(has_content, read_words("off_topic.txt")), key=_lot)
    wanted = min(MOST_NEGATIVES, max(10, positives // 2))
    for language_of in ("zh", "en"):
        spoken = [text for text in prompts if language(text) == language_of]
        for text in spoken[: wanted // 2]:
            yield GoldenQuery(text, (), Kind.NEGATIVE, language_of, OFF_TOPIC, is_reviewed=False)


def _first_clause(description: str) -> str:
    clauses = [clause for clause in _CLAUSE.split(description) if clause]
    return clauses[0] if clauses else ""


def _distinct(queries: Iterable[GoldenQuery | None]) -> Iterator[GoldenQuery]:
    seen: set[str] = set()
    for query in queries:
        if query is not None and query.text not in seen:
            seen.add(query.text)
            yield query


def _taken_in_turn(sources: Sequence[Sequence[GoldenQuery]], most: int) -> Iterator[GoldenQuery]:
    """One of each source after the other, each source in an order that no position decides."""
    by_lot: Callable[[GoldenQuery], int] = lambda query: _lot(query.text)  # noqa: E731
    shuffled = [sorted(source, key=by_lot) for source in sources]
    rounds = max(map(len, shuffled), default=0)
    taken = (source[turn] for turn in range(rounds) for source in shuffled if turn < len(source))
    for _, query in zip(range(most), taken, strict=False):
        yield query


def _lot(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest())
