"""query → candidates → Signals → score → verdicts → Hints: how a prompt finds its memories.

A score depends on the notes and the prompt alone: `evidence` is exact for every candidate, `scoring` is
arithmetic. The window of a long prompt that speaks best for a memory decides its score.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from vaultmem.errors import EmbedderError
from vaultmem.recall import scoring
from vaultmem.recall.answer import Candidate, Hint, Mode, Recall
from vaultmem.recall.bonuses import carried_names, exact_bonus, small_bonuses
from vaultmem.recall.evidence import Evidence, Passage, Sources, embed_prompt, gather
from vaultmem.recall.identifiers import rare_names
from vaultmem.recall.prompt import Prompt, read_prompt
from vaultmem.recall.scoring import ChunkSignal, Signals, Verdict
from vaultmem.text.moments import utc_now

if TYPE_CHECKING:
    from vaultmem.stores.catalog_rows import NoteRow
    from vaultmem.stores.dense_rows import DenseRow


def recall(
    query: str,
    sources: Sources,
    *,
    limit: int = 3,
    min_score: float = scoring.DEFAULT_MIN_SCORE,
    project: str | None = None,
    suppressed: Collection[str] = (),
    now: datetime | None = None,
) -> Recall:
    """Answer a query. One that says nothing gets neither hints nor candidates; a `limit` below 1 gives no
    hints.

    `project` and `now` move the bonuses (`project/P` tags, recency). `suppressed` ids are candidates, never
    hints. A failing embedder makes the answer lexical and is told as `trouble`, as is what the stores lack. Raises
    StoreError.
    """
    prompt = read_prompt(query, sources.lexical.document_frequencies if sources.lexical else None)
    if not prompt.windows:
        return Recall(query)
    try:
        vectors, trouble = embed_prompt(prompt, sources), ""
    except EmbedderError as error:
        vectors, trouble = None, f"recall uses words alone: {error}"
    trouble = "; ".join(filter(None, (sources.missing, trouble)))
    evidence = gather(prompt, vectors, sources)
    ranked = _rank(prompt, evidence, project, now or utc_now())
    candidates = tuple(_judge(ranked, sources, limit, min_score, frozenset(suppressed)))
    hints = tuple(
        Hint(c.id, c.score, c.name, c.description, c.path) for c in candidates if c.verdict is Verdict.HINTED
    )
    return Recall(query, hints, candidates, _mode(vectors is not None, sources.lexical is not None), trouble)


def _mode(has_dense: bool, has_lexical: bool) -> Mode:
    if has_dense:
        return Mode.HYBRID if has_lexical else Mode.DENSE
    return Mode.LEXICAL if has_lexical else Mode.NONE


# --- ranking


class _Weighed(NamedTuple):
    """What one window of a prompt says of one memory, before bonuses."""

    base: float
    window: int
    dense_metadata: float | None
    dense_body: float | None
    dense: float | None
    bm25: float | None
    body: tuple[Passage, ...]


class Ranked(NamedTuple):
    """A candidate with the parts of its score and their sum."""

    row: NoteRow
    score: float
    signals: Signals


def _rank(prompt: Prompt, evidence: Evidence, project: str | None, now: datetime) -> list[Ranked]:
    """Every candidate that any signal speaks of, best first, equal scores by id; each id once."""
    weighed = {key: _weigh(key, prompt, evidence) for key, row in evidence.rows.items() if row.id}
    weighed = {key: found for key, found in weighed.items() if (found.dense, found.bm25) != (None, None)}
    carried = _carried(prompt, evidence, weighed)
    bonuses = {
        key: small_bonuses(found.base, evidence.rows[key].tags, evidence.rows[key].updated_at, project, now)
        for key, found in weighed.items()
    }
    without = [_score(found, bonuses[key]) for key, found in weighed.items() if key not in carried]
    best_without, most = max(without, default=0.0), max(carried.values(), default=1)
    texts = evidence.rows_of([passage for found in weighed.values() for passage in found.body])
    ranked = []
    for key, found in weighed.items():
        bonus = bonuses[key]
        if key in carried:
            bonus["exact_identifier"] = exact_bonus(found.base, carried[key] / most, best_without)
        signals = _signals(key, found, bonus, evidence, texts)
        ranked.append(Ranked(evidence.rows[key], _score(found, bonus), signals))
    ranked.sort(key=lambda one: (-one.score, -carried.get(one.row.note_key, 0), one.row.id, one.row.path))
    first_of_id: dict[str | None, Ranked] = {}
    for one in ranked:
        first_of_id.setdefault(one.row.id, one)
    return list(first_of_id.values())


def _score(found: _Weighed, bonus: Mapping[str, float]) -> float:
    return scoring.total(found.dense, found.bm25, bonus.values()) if bonus else found.base


def _carried(prompt: Prompt, evidence: Evidence, weighed: Mapping[int, _Weighed]) -> dict[int, int]:
    """How many telling identifiers of the prompt each memory carries; those that carry too few are left out."""
    known, documents = evidence.frequencies, evidence.documents
    names = [name for name in prompt.identifiers if name.tells_apart(known, documents)]
    names += rare_names(" ".join(window.text for window in prompt.windows), known, documents)
    needed = 1 if len(prompt.identifiers) <= scoring.MANY_IDENTIFIERS else 2
    counts = {}
    for key, hit in evidence.counts.items() if names else ():
        is_likely = key in weighed and _is_likely(weighed[key], evidence.coverage(hit, weighed[key].window))
        counts[key] = len(carried_names(names, hit.counts, is_likely))
    return {key: count for key, count in counts.items() if count >= needed}


def _is_likely(found: _Weighed, coverage: float) -> bool:
    """The memory's own signals do not speak against it: what a weak identifier needs beside it."""
    is_near = found.dense is None or found.dense >= scoring.WEAK_LIKENESS * scoring.AT_THRESHOLD
    return is_near and coverage >= scoring.WEAK_COVERAGE


def _weigh(key: int, prompt: Prompt, evidence: Evidence) -> _Weighed:
    """The window that speaks best for this memory, the first of equals."""
    every = (_weigh_window(key, number, prompt, evidence) for number in range(len(prompt.windows)))
    return max(every, key=lambda weighed: weighed.base)


def _weigh_window(key: int, window: int, prompt: Prompt, evidence: Evidence) -> _Weighed:
    passages, hit = evidence.passages.get(key), evidence.counts.get(key)
    tries = len(prompt.windows)
    dense_metadata = dense_body = dense = bm25 = None
    body: list[Passage] = []
    if passages:
        dense_metadata, dense_body, body = _likenesses(passages, window)
        threshold = scoring.dense_threshold(evidence.memories, tries)
        dense = scoring.calibrated_dense(max(dense_metadata or 0.0, dense_body or 0.0), threshold)
        dense = dense if hit is not None else scoring.dense_alone(dense)
    if hit is not None:
        share = evidence.bm25_share(hit, window)
        alone = scoring.lexical_threshold(evidence.memories, tries)
        bm25 = scoring.calibrated_lexical(share) if passages else scoring.lexical_alone(share, alone)
    base = scoring.total(dense, bm25)
    return _Weighed(base, window, dense_metadata, dense_body, dense, bm25, tuple(body))


def _likenesses(passages: list[Passage], window: int) -> tuple[float | None, float | None, list[Passage]]:
    """Metadata, body, and the chunks that the body's likeness is of, best first."""
    metadata = [p.likenesses[window] for p in passages if p.is_metadata]
    body = [p for p in passages if not p.is_metadata]
    body.sort(key=lambda p: (-p.likenesses[window], p.ordinal))
    weights = scoring.body_weights(len(body))
    pairs = zip(body, weights, strict=False)
    dense_body = sum(weight * p.likenesses[window] for p, weight in pairs) if body else None
    return max(metadata, default=None), dense_body, body[: len(weights)]


def _signals(
    key: int,
    found: _Weighed,
    bonus: Mapping[str, float],
    evidence: Evidence,
    texts: Mapping[int, DenseRow],
) -> Signals:
    window, hit = found.window, evidence.counts.get(key)
    weights = scoring.body_weights(len(found.body))
    return Signals(
        found.dense_metadata,
        found.dense_body,
        found.dense,
        found.bm25,
        bonus,
        tuple(_chunk(texts[p.at], p, window, weight) for p, weight in zip(found.body, weights, strict=True)),
        tuple(term for term in evidence.idf[window] if term in hit.counts) if hit is not None else (),
    )


def _chunk(row: DenseRow, passage: Passage, window: int, weight: float) -> ChunkSignal:
    cosine = max(0.0, passage.cosines[window])
    return ChunkSignal(
        row.text, row.heading, row.line_start, row.line_end, cosine, weight, passage.likenesses[window]
    )


# --- verdicts


def _judge(
    ranked: list[Ranked],
    sources: Sources,
    limit: int,
    min_score: float,
    suppressed: frozenset[str],
) -> Iterator[Candidate]:
    """The candidates with their verdicts; the file of each that is about to be a hint is looked at first."""
    free = max(0, limit)
    for row, score, signals in ranked:
        shown = row
        verdict = _verdict(row, score, min_score, suppressed, free)
        if verdict is Verdict.HINTED:
            checked = sources.check_hint(row)
            if checked is None or checked.id is None:
                continue
            shown, verdict = checked, _verdict(checked, score, min_score, suppressed, free)
        free -= verdict is Verdict.HINTED
        yield Candidate(
            shown.id or "", score, verdict, signals, shown.path, shown.name, shown.description, shown.note_key
        )


def _verdict(row: NoteRow, score: float, min_score: float, suppressed: Collection[str], free: int) -> Verdict:
    """What the note's own facts forbid comes first, then the score, then suppression and the limit."""
    facts = (
        (Verdict.CONFLICT, row.in_conflict),
        (Verdict.DEPRECATED, row.status != "active"),
        (Verdict.NO_DESCRIPTION, not row.description),
        (Verdict.BELOW_THRESHOLD, score < min_score or score <= 0),
        (Verdict.SUPPRESSED, row.id in suppressed),
        (Verdict.OVER_LIMIT, free < 1),
    )
    return next((verdict for verdict, holds in facts if holds), Verdict.HINTED)
