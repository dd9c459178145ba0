"""A vault in fake stores, and what holds for every answer out of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest

from vaultmem.embedding.calibration import Calibration, calibrate
from vaultmem.notes.chunks import metadata_text, text_hash
from vaultmem.recall.answer import Recall
from vaultmem.recall.evidence import Meaning, Sources
from vaultmem.recall.rank import recall
from vaultmem.recall.scoring import DEFAULT_MIN_SCORE, Verdict, total
from vaultmem.stores.dense_rows import DenseRow, Part
from vaultmem.stores.lexical_documents import LexicalDoc
from vaultmem.testing import DictDenseStore, DictLexicalStore, HashingEmbedder
from vaultmem.text.languages import language
from vaultmem.text.terms import document_terms

NOW = datetime(2026, 6, 7, 12, tzinfo=UTC)
DIMENSION = 256


@cache
def hashing_calibration() -> Calibration:
    embedder = HashingEmbedder(size=DIMENSION)
    return calibrate(embedder.queries, embedder.passages, embedder.fingerprint)


@dataclass(frozen=True)
class Row:
    note_key: int
    id: str | None
    name: str = ""
    description: str = "something"
    tags: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    path: str = ""
    status: str = "active"
    updated_at: str | None = None
    digest: str = "now"
    lexical_digest: str | None = "now"
    dense_digest: str | None = "now"
    in_conflict: bool = False
    chunk_hashes: frozenset[str] = frozenset()


@dataclass
class Vault:
    """Rows in fake stores; a test may spoil any of them before it asks. Every answer is checked."""

    embedder: HashingEmbedder = field(default_factory=lambda: HashingEmbedder(size=DIMENSION))
    rows: dict[int, Row] = field(default_factory=dict)
    lexical: DictLexicalStore | None = field(default_factory=DictLexicalStore)
    dense: DictDenseStore | None = field(default_factory=lambda: DictDenseStore(DIMENSION))
    checked: list[str | None] = field(default_factory=list)
    on_disk: dict[int, Row | None] = field(default_factory=dict)

    def add(self, id: str | None, name: str, *body: str, **fields: Any) -> Row:  # noqa: A002
        key = len(self.rows)
        texts = [metadata_text(name, fields.get("description", "something"), fields.get("tags", ())), *body]
        row = Row(
            key,
            id,
            name,
            body=body,
            path=f"{key}.md",
            chunk_hashes=frozenset(map(text_hash, texts)),
            **fields,
        )
        self.rows[key] = row
        if self.lexical is not None:
            counts = document_terms(row.name, row.description, row.tags, "\n".join(body))
            self.lexical.add([LexicalDoc(key, row.lexical_digest or "now", counts)])
        if self.dense is not None and row.dense_digest is not None:
            self.dense.add([self.dense_row(row, number, text) for number, text in enumerate(texts)])
        return row

    def dense_row(self, row: Row, number: int, text: str) -> DenseRow:
        lang = language(text)
        (vector,) = hashing_calibration().centre_passages(self.embedder.passages([text]), [lang])
        part = Part.BODY if number else Part.METADATA
        digest = row.dense_digest or ""
        return DenseRow(
            row.note_key, digest, part, number, "", number, number, text, text_hash(text), lang, vector
        )

    def rows_by_key(self, keys: Collection[int]) -> Mapping[int, Row]:
        return {key: self.rows[key] for key in keys if key in self.rows}

    def admitted_count(self) -> int:
        return len(self.rows)

    def check_hint(self, row: Any) -> Any:
        self.checked.append(row.id)
        return self.on_disk.get(row.note_key, row)

    def sources(self) -> Sources:
        meaning = self.dense and Meaning(self.dense, self.embedder.queries, hashing_calibration())
        return Sources(self, self.lexical, meaning, self.check_hint)

    def ask(self, query: str, **options: Any) -> Recall:
        answer = recall(query, self.sources(), now=NOW, **options)
        check(answer, options.get("limit", 3), options.get("min_score", DEFAULT_MIN_SCORE))
        return answer


def check(answer: Recall, limit: int, min_score: float) -> None:
    """What holds for every answer."""
    hinted = [candidate for candidate in answer.candidates if candidate.verdict is Verdict.HINTED]
    assert [hint.id for hint in answer.hints] == [candidate.id for candidate in hinted]
    assert len(answer.hints) <= max(0, limit)
    assert all(hint.score >= min_score for hint in answer.hints)
    scores = [candidate.score for candidate in answer.candidates]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)
    assert len({candidate.id for candidate in answer.candidates}) == len(answer.candidates)
    for candidate in answer.candidates:
        signals = candidate.signals
        assert candidate.score == pytest.approx(total(signals.dense, signals.bm25, signals.bonus.values()))
        assert sum(chunk.weight for chunk in signals.chunks) == pytest.approx(1 if signals.chunks else 0)
