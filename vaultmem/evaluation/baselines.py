"""Two simpler ways to answer a query, to hold recall against: counting words, and BM25 alone. Pure.

In both any match is an answer: neither can say that nothing fits.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmem.evaluation.figures import RANKED, Answered, Figures, figures, share_of
from vaultmem.recall import scoring
from vaultmem.text.folding import folded
from vaultmem.text.terms import document_terms, query_terms

if TYPE_CHECKING:
    from vaultmem.views import OpenedMemory


class WordCount:
    """What ripgrep for any word of the query finds: most different words first, then most matches."""

    def __init__(self, memories: Mapping[str, OpenedMemory]) -> None:
        self._texts = {note_id: _folded(memory) for note_id, memory in memories.items()}
        self._counts: dict[str, Mapping[str, int]] = {}

    def scores(self, query: str) -> dict[str, float]:
        """The memories with a match and their scores; words are terms of two characters or more."""
        found: dict[str, float] = defaultdict(float)
        for word in query_terms(query):
            for note_id, count in self._matches(word).items() if len(word) > 1 else ():
                found[note_id] += 1 + count / 1e6
        return dict(found)

    def _matches(self, word: str) -> Mapping[str, int]:
        if word not in self._counts:
            counts = ((note_id, text.count(word)) for note_id, text in self._texts.items())
            self._counts[word] = {note_id: count for note_id, count in counts if count}
        return self._counts[word]


class OwnBM25:
    """BM25 on the same terms as recall, ranked by nothing else."""

    def __init__(self, memories: Mapping[str, OpenedMemory]) -> None:
        self._postings: dict[str, dict[str, int]] = defaultdict(dict)
        self._lengths: dict[str, int] = {}
        for note_id, memory in memories.items():
            counts = document_terms(memory.name, memory.description, memory.tags, memory.body)
            self._lengths[note_id] = counts.total()
            for term, count in counts.items():
                self._postings[term][note_id] = count
        self._average = sum(self._lengths.values()) / max(1, len(self._lengths))

    def scores(self, query: str) -> dict[str, float]:
        """The memories that hold a term of the query, with their BM25."""
        found: dict[str, float] = defaultdict(float)
        for term in query_terms(query):
            posting = self._postings.get(term, {})
            idf = {term: scoring.inverse_frequency(len(self._lengths), len(posting))}
            for note_id, count in posting.items():
                found[note_id] += scoring.bm25({term: count}, self._lengths[note_id], self._average, idf)
        return dict(found)


def _folded(memory: OpenedMemory) -> str:
    text = "\n".join((memory.name, memory.description, *memory.tags, memory.body))
    return folded(text).lower()


# --- what recall is held against


@dataclass(frozen=True, slots=True)
class Baseline:
    """The figures of a simpler way to answer the same queries, where any match is a hint."""

    name: str
    figures: Figures
    silence: float


def baselines(
    answers: Sequence[Answered], memories: Mapping[str, OpenedMemory], hint_limit: int
) -> tuple[Baseline, ...]:
    """The same queries answered by each of the two."""
    return tuple(
        _baseline(name, scorer(memories), answers, hint_limit)
        for name, scorer in (("ripgrep", WordCount), ("BM25 alone", OwnBM25))
    )


def _baseline(
    name: str, scorer: WordCount | OwnBM25, answers: Sequence[Answered], hint_limit: int
) -> Baseline:
    plain = [_plain_answer(scorer, answer, hint_limit) for answer in answers]
    positives = [answer for answer in plain if answer.is_positive]
    silence = share_of(not answer.hints for answer in plain if not answer.is_positive)
    return Baseline(name, figures(positives, math.ulp(0.0)), silence)


def _plain_answer(scorer: WordCount | OwnBM25, answer: Answered, hint_limit: int) -> Answered:
    """The same query answered by a baseline; of equal scores the relevant memory comes last."""
    scores = scorer.scores(answer.query.text)
    relevant = set(answer.query.relevant)
    ranked = sorted(scores, key=lambda note_id: (-scores[note_id], note_id in relevant, note_id))
    best = max((scores.get(note_id, 0.0) for note_id in relevant), default=0.0)
    return Answered(answer.query, answer.groups, tuple(ranked[:RANKED]), best, tuple(ranked[:hint_limit]))
