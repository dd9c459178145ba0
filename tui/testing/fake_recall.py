"""An invented recall: scores made of the words that notes and prompt share, and they add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from vaultmem.notes.metadata import Status
from vaultmem.notes.parse import Note
from vaultmem.recall.answer import Candidate, Hint, Mode, Recall
from vaultmem.recall.scoring import ChunkSignal, Signals, Verdict
from vaultmem.text.terms import query_terms


def recalled(
    query: str, notes: Iterable[Note], *, limit: int, min_score: float, suppressed: Collection[str]
) -> Recall:
    """The answer to a prompt from these notes, best first; notes that share no word with it take no part."""
    terms = query_terms(query)
    known = [note for note in notes if note.id]
    copies = Counter(note.id for note in known)
    found = [(signals, note) for note in known if (signals := _signals(note, terms)).terms]
    candidates: list[Candidate] = []
    free = limit
    for key, (signals, note) in enumerate(sorted(found, key=lambda pair: (-pair[0].score, pair[1].path))):
        score = signals.score
        facts = {
            Verdict.CONFLICT: copies[note.id] > 1,
            Verdict.DEPRECATED: note.status is not Status.ACTIVE,
            Verdict.NO_DESCRIPTION: not note.description,
            Verdict.BELOW_THRESHOLD: score < min_score,
            Verdict.SUPPRESSED: note.id in suppressed,
            Verdict.OVER_LIMIT: free < 1,
        }
        verdict = next((verdict for verdict, holds in facts.items() if holds), Verdict.HINTED)
        free -= verdict is Verdict.HINTED
        candidates.append(
            Candidate(note.id or "", score, verdict, signals, note.path, note.name, note.description, key)
        )
    hints = tuple(
        Hint(each.id, each.score, each.name, each.description, each.path)
        for each in candidates
        if each.verdict is Verdict.HINTED
    )
    return Recall(query, hints, tuple(candidates), Mode.HYBRID if candidates else Mode.NONE)


def _signals(note: Note, terms: Sequence[str]) -> Signals:
    body, meta = note.body.casefold(), f"{note.name} {note.description} {' '.join(note.tags)}".casefold()
    found = tuple(term for term in terms if term in body or term in meta)
    share = len(found) / max(1, len(terms))
    in_meta = sum(term in meta for term in terms) / max(1, len(terms))
    in_body = sum(term in body for term in terms) / max(1, len(terms))
    chunk = ChunkSignal(
        text=note.body.strip(),
        heading=note.name,
        line_start=note.body_line,
        line_end=note.body_line + 2,
        cosine=round(in_body * 0.6, 3),
        weight=1.0,
        likeness=round(in_body, 3),
    )
    return Signals(
        dense_metadata=round(in_meta, 3),
        dense_body=round(in_body, 3),
        dense=round(max(in_meta, in_body) * 0.8, 3),
        bm25=round(share * 0.6, 3),
        chunks=(chunk,),
        terms=found,
    )
