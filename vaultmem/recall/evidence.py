"""What the stores say about the memories that a prompt may be about, exact for every one of them.

A store only proposes: a memory that one of them names is read in both. Rows of another version than the
catalog has on record for that store do not count, nor do vectors of text that an edit has removed while its
own are pending.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from vaultmem.errors import StoreError
from vaultmem.recall import scoring
from vaultmem.stores.dense_rows import Part

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vaultmem.embedding.calibration import Calibration
    from vaultmem.recall.prompt import Prompt, Window
    from vaultmem.stores.catalog_rows import NoteRow
    from vaultmem.stores.dense_rows import DenseRow, RowTable
    from vaultmem.stores.lexical_documents import LexicalHit

    Vectors = NDArray[np.float32]


class NoteRows(Protocol):
    """The catalog, as recall sees it."""

    def rows_by_key(self, keys: Collection[int]) -> Mapping[int, NoteRow]: ...
    def admitted_count(self) -> int: ...


class Lexical(Protocol):
    """The lexical store, as recall sees it."""

    def search(self, terms: Sequence[str], limit: int) -> list[LexicalHit]: ...
    def read(self, note_keys: Collection[int], terms: Sequence[str]) -> list[LexicalHit]: ...
    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int]: ...
    def statistics(self) -> tuple[int, int]: ...


class Dense(Protocol):
    """The dense store, as recall sees it."""

    def near_notes(self, vector: NDArray[np.float32], limit: int) -> set[int]: ...
    def read(self, note_keys: Collection[int]) -> RowTable | None: ...


@dataclass(frozen=True, slots=True)
class Meaning:
    """What compares meanings: vectors, and what embeds and calibrates a prompt for them. All of one model."""

    dense: Dense
    embed_query: Callable[[Sequence[str]], Vectors]
    """Texts → raw unit vectors (n, d). An EmbedderError makes that one answer lexical."""
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class Sources:
    """What recall reads; without `lexical` it goes by meaning alone, without `meaning` by words."""

    memories: NoteRows
    lexical: Lexical | None
    meaning: Meaning | None = None
    check_hint: Callable[[NoteRow], NoteRow | None] = lambda row: row
    """Looks at the note's file as it is now: the row to show, or None when the note is gone."""
    missing: str = ""
    """What should be there and is not, in one line."""


class Passage(NamedTuple):
    """An embedded text, its centred cosine with each window of the prompt, and what these say."""

    at: int
    """Its place among the rows that were read, for `Evidence.rows_of`."""
    is_metadata: bool
    ordinal: int
    cosines: Sequence[float]
    likenesses: Sequence[float]


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """All that is known about the candidates of one prompt, by note key."""

    rows: Mapping[int, NoteRow]
    memories: int
    """Admitted memories in the vault."""
    passages: Mapping[int, list[Passage]]
    counts: Mapping[int, LexicalHit]
    documents: int
    """Live documents of the lexical store."""
    frequencies: Mapping[str, int]
    average_length: float
    idf: Sequence[Mapping[str, float]]
    """For each window: its terms with how telling they are."""

    attainable: Sequence[float]
    """For each window: the BM25 that no document can exceed."""

    embedded: RowTable | None = None
    """What was read of the dense store."""

    def rows_of(self, passages: Sequence[Passage]) -> dict[int, DenseRow]:
        """The rows of these passages, by their places."""
        places = [passage.at for passage in passages]
        return dict(zip(places, self.embedded.rows(places), strict=True)) if self.embedded else {}

    def bm25_share(self, hit: LexicalHit, window: int) -> float:
        """The BM25 of a document for a window, as a share of what is attainable, 0..1."""
        best = self.attainable[window]
        if not best:
            return 0.0
        return scoring.bm25(hit.counts, hit.length, self.average_length, self.idf[window]) / best

    def coverage(self, hit: LexicalHit, window: int) -> float:
        """How much of a window a document holds at all: the share of its terms by how telling they are, 0..1."""
        idf = self.idf[window]
        everything = sum(idf.values())
        return (
            sum(value for term, value in idf.items() if term in hit.counts) / everything
            if everything
            else 0.0
        )


def embed_prompt(prompt: Prompt, sources: Sources) -> Vectors | None:
    """Centred unit vectors (windows, d) of a prompt; None where recall is lexical. Raises EmbedderError."""
    if sources.meaning is None:
        return None
    raw = sources.meaning.embed_query([window.text for window in prompt.windows])
    return sources.meaning.calibration.centre_queries(raw, [window.language for window in prompt.windows])


def gather(prompt: Prompt, vectors: Vectors | None, sources: Sources) -> Evidence:
    """Let both stores propose memories, then read all of these in both."""
    terms = prompt.terms
    meaning = sources.meaning if vectors is not None else None
    rows = sources.memories.rows_by_key(_proposed(prompt, vectors, sources))
    embedded = meaning.dense.read(rows) if meaning and rows else None
    documents, total_length = sources.lexical.statistics() if sources.lexical else (0, 0)
    frequencies = sources.lexical.document_frequencies(terms) if sources.lexical else {}
    idf = [_idf(window, frequencies, documents) for window in prompt.windows]
    passages = _passages(rows, prompt, vectors, embedded, meaning.calibration) if meaning else {}
    hits = sources.lexical.read(rows, terms) if sources.lexical is not None and rows else []
    _refuse_lost_rows(rows, {hit.note_key for hit in hits} if sources.lexical else None, embedded)
    return Evidence(
        rows=rows,
        memories=sources.memories.admitted_count(),
        passages=passages,
        counts={hit.note_key: hit for hit in hits if hit.digest == rows[hit.note_key].lexical_digest},
        documents=documents,
        frequencies=frequencies,
        average_length=total_length / documents if documents else 0.0,
        idf=idf,
        attainable=[scoring.attainable(of_window.values()) for of_window in idf],
        embedded=embedded,
    )


def _refuse_lost_rows(
    rows: Mapping[int, NoteRow], found: Collection[int] | None, embedded: RowTable | None
) -> None:
    """Of what the catalog vouches for a store hands out something, be it of another version. Raises StoreError."""
    if found is not None and any(row.lexical_digest and key not in found for key, row in rows.items()):
        raise StoreError("the lexical store has lost a note that it should hold", store="lexical")
    held = {key for key, row in rows.items() if row.dense_digest}
    if embedded is not None and not held <= set(embedded.column("note_key")):
        raise StoreError("the dense store has lost a note that it should hold", store="dense")


def _idf(window: Window, frequencies: Mapping[str, int], documents: int) -> dict[str, float]:
    """The terms of a window; a whole that no memory holds is left to its parts, other unseen terms count."""
    return {
        term: scoring.inverse_frequency(documents, frequencies.get(term, 0))
        for term in window.terms
        if frequencies.get(term, 0) or term not in window.whole_terms
    }


def _proposed(prompt: Prompt, vectors: Vectors | None, sources: Sources) -> set[int]:
    keys: set[int] = set()
    terms, names = prompt.terms, [term for name in prompt.identifiers for term in name.terms]
    if sources.lexical is not None:
        for asked in filter(None, (terms, names)):
            keys |= {hit.note_key for hit in sources.lexical.search(asked, scoring.LEXICAL_CANDIDATES)}
    if sources.meaning is not None and vectors is not None:
        for vector in vectors:
            keys |= sources.meaning.dense.near_notes(vector, scoring.DENSE_CANDIDATES)
    return keys


def _passages(
    rows: Mapping[int, NoteRow],
    prompt: Prompt,
    vectors: Vectors | None,
    embedded: RowTable | None,
    calibration: Calibration,
) -> dict[int, list[Passage]]:
    """What was read of the dense store and counts, by note key."""
    import numpy as np

    found: dict[int, list[Passage]] = {}
    if vectors is None or embedded is None:
        return found
    # Row by row: a matrix product rounds by where a row stands, and so by the history of the notes.
    cosines = np.stack([np.einsum("ij,j->i", embedded.vectors, vector) for vector in vectors], axis=1)
    asked = [window.language for window in prompt.windows]
    alike = calibration.likenesses(cosines, asked, embedded.column("lang"))
    columns = [embedded.column(name) for name in ("note_key", "digest", "text_hash", "part", "ordinal")]
    of_row = zip(*columns, cosines.tolist(), alike.tolist(), strict=True)
    for at, (key, digest, text_hash, part, ordinal, values, likenesses) in enumerate(of_row):
        if _counts_for(digest, text_hash, rows[key]):
            passage = Passage(at, part == Part.METADATA, ordinal, values, likenesses)
            found.setdefault(key, []).append(passage)
    return found


def _counts_for(digest: str, text_hash: str, row: NoteRow) -> bool:
    """A vector is of the version on record, and its text is still in the note."""
    return digest == row.dense_digest and (digest == row.digest or text_hash in row.chunk_hashes)
