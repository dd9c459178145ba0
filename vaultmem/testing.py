"""Fakes for tests, here and elsewhere: an embedder without a model, stores without a back end, a note without a file.

They keep the promises of the real things (tests/stores runs one suite over both) and cost nothing to make.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

from vaultmem.errors import EmbedderError, StoreError
from vaultmem.stores.dense import DenseStore
from vaultmem.stores.dense_rows import DenseRow, RowTable, in_order, to_arrow
from vaultmem.stores.lexical_documents import LexicalDoc, LexicalHit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vaultmem.notes.parse import Note


@dataclass(slots=True)
class HashingEmbedder:
    """An embedder without a model: words and character pairs, hashed into `size` dimensions. Equal in every process.

    Texts that share words are near each other. `delay_s` is slept per text; `texts_embedded` counts texts;
    while `is_failing` every call raises EmbedderError.
    """

    size: int = 64
    delay_s: float = 0.0
    is_failing: bool = False
    texts_embedded: int = 0
    calls: list[tuple[str, ...]] = field(default_factory=list)
    engine: str = "hashing"
    model: str = "hashing"

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self.size

    @property
    def fingerprint(self) -> str:
        """What the vectors depend on."""
        return f"{self.engine}:{self.model}:{self.size}"

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed queries; (n, d) raw unit vectors."""
        return self._embed(texts)

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages; (n, d) raw unit vectors."""
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        if self.is_failing:
            raise EmbedderError("the hashing embedder was told to fail")
        self.calls.append(tuple(texts))
        self.texts_embedded += len(texts)
        if self.delay_s:
            time.sleep(self.delay_s * len(texts))
        vectors = np.zeros((len(texts), self.size), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            row[0] = 0.05  # no text has a zero vector
            for feature in _features(text):
                code = int.from_bytes(blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest())
                row[code % self.size] += 1.0 if code >> 63 else -1.0
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def _features(text: str) -> Iterator[str]:
    for word in text.lower().split():
        yield word
        if not word.isascii():
            yield from (word[start : start + 2] for start in range(len(word) - 1))


class DictDenseStore:
    """A dense store in a list: exact search, nothing on disk."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._rows: list[DenseRow] = []

    def add(self, rows: Sequence[DenseRow]) -> None:
        """Add these rows; StoreError when a vector has another length."""
        if any(row.vector.shape != (self._dimension,) for row in rows):
            raise StoreError(
                f"a vector of another length than {self._dimension} does not fit the dense store"
            )
        self._rows.extend(rows)

    def delete(self, versions: Collection[tuple[int, str]]) -> None:
        """Delete the rows of exactly these (note_key, digest) versions."""
        gone = set(versions)
        self._rows = [row for row in self._rows if (row.note_key, row.digest) not in gone]

    def delete_keys(self, note_keys: Collection[int]) -> None:
        """Delete all rows of these notes."""
        gone = set(note_keys)
        self._rows = [row for row in self._rows if row.note_key not in gone]

    def near_notes(self, vector: NDArray[np.float32], limit: int) -> set[int]:
        """The notes of the `limit` nearest rows."""
        import numpy as np

        query = np.asarray(vector, dtype=np.float32)
        if limit <= 0 or not self._rows or not np.isfinite(query).all() or not query.any():
            return set()
        cosines = np.stack([row.vector for row in self._rows]) @ query
        return {self._rows[index].note_key for index in np.argsort(-cosines, kind="stable")[:limit]}

    def read(self, note_keys: Collection[int]) -> RowTable | None:
        """All rows of these notes by column; None where there are none."""
        found = self.rows(note_keys)
        return RowTable(to_arrow(found, self._dimension)) if found else None

    def rows(self, note_keys: Collection[int]) -> list[DenseRow]:
        """All rows of these notes, ordered by note, version, part and ordinal."""
        wanted = set(note_keys)
        return sorted((row for row in self._rows if row.note_key in wanted), key=in_order)

    def versions(self) -> dict[tuple[int, str], int]:
        """Every (note_key, digest) with how many rows it has."""
        return dict(Counter((row.note_key, row.digest) for row in self._rows))

    def count(self) -> int:
        """The number of rows."""
        return len(self._rows)

    def size_bytes(self) -> int:
        """Nothing is on disk."""
        return 0

    def maintain(self, *, force: bool = False) -> None:
        """Nothing to do."""

    def probe(self) -> bool:
        """Whether a stored vector finds itself."""
        return not self._rows or bool(self.near_notes(self._rows[0].vector, 1))

    def close(self) -> None:
        """Nothing to let go of."""


def nearest(
    store: DenseStore | DictDenseStore, vector: NDArray[np.float32], limit: int
) -> list[tuple[DenseRow, float]]:
    """The rows nearest to `vector` with their exact cosines, best first: proposed, then scored, as recall does."""
    import numpy as np

    read = store.read(store.near_notes(vector, limit))
    if read is None:
        return []
    cosines = read.vectors @ (vector / np.linalg.norm(vector))
    best = np.argsort(-cosines, kind="stable")[:limit]
    return list(zip(read.rows(best.tolist()), cosines[best].tolist(), strict=True))


class DictLexicalStore:
    """A lexical store in a list: ranks by summed counts over length, nothing on disk."""

    def __init__(self) -> None:
        self._docs: list[LexicalDoc] = []

    def add(self, docs: Sequence[LexicalDoc]) -> None:
        """Add these documents."""
        self._docs.extend(docs)

    def delete(self, versions: Collection[tuple[int, str]]) -> None:
        """Delete exactly these (note_key, digest) versions."""
        gone = set(versions)
        self._docs = [doc for doc in self._docs if (doc.note_key, doc.digest) not in gone]

    def delete_keys(self, note_keys: Collection[int]) -> None:
        """Delete every version of these notes."""
        gone = set(note_keys)
        self._docs = [doc for doc in self._docs if doc.note_key not in gone]

    def search(self, terms: Sequence[str], limit: int) -> list[LexicalHit]:
        """The documents that hold at least one of `terms`, best first."""
        hits = [hit for hit in (_hit(doc, terms) for doc in self._docs) if hit.counts]
        return sorted(hits, key=lambda hit: -sum(hit.counts.values()) / hit.length)[: max(0, limit)]

    def read(self, note_keys: Collection[int], terms: Sequence[str]) -> list[LexicalHit]:
        """Every document of these notes with its counts of `terms`, ordered by note_key."""
        wanted = set(note_keys)
        hits = [_hit(doc, terms) for doc in self._docs if doc.note_key in wanted]
        return sorted(hits, key=lambda hit: (hit.note_key, hit.digest))

    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """How many documents hold each term."""
        return {term: sum(doc.terms.get(term, 0) > 0 for doc in self._docs) for term in terms}

    def statistics(self) -> tuple[int, int]:
        """(documents, sum of their lengths)."""
        return len(self._docs), sum(_length(doc.terms) for doc in self._docs)

    def versions(self) -> dict[tuple[int, str], int]:
        """Every (note_key, digest) with how many documents it has."""
        return dict(Counter((doc.note_key, doc.digest) for doc in self._docs))

    def count(self) -> int:
        """The number of documents."""
        return len(self._docs)

    def size_bytes(self) -> int:
        """Nothing is on disk."""
        return 0

    def maintain(self, *, force: bool = False) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to let go of."""


def _hit(doc: LexicalDoc, terms: Iterable[str]) -> LexicalHit:
    counts = {term: doc.terms[term] for term in dict.fromkeys(terms) if doc.terms.get(term, 0) > 0}
    return LexicalHit(doc.note_key, doc.digest, counts, _length(doc.terms))


def _length(terms: Mapping[str, int]) -> int:
    return sum(count for count in terms.values() if count > 0)


def make_note(
    path: str = "2026/07/week1/2026-07-01-note.md",
    *,
    id: str | None = "mem_note",  # noqa: A002  (the note's own word)
    name: str = "A note",
    description: str = "What the note is about",
    tags: Sequence[str] = (),
    status: str = "active",
    body: str = "Body.\n",
) -> Note:
    """The note that a file with these fields would give."""
    from vaultmem.notes.parse import parse_note

    return parse_note(
        path, note_bytes(id=id, name=name, description=description, tags=tags, status=status, body=body)
    )


def note_bytes(
    *,
    id: str | None = "mem_note",  # noqa: A002
    name: str = "A note",
    description: str = "What the note is about",
    tags: Sequence[str] = (),
    status: str = "active",
    body: str = "Body.\n",
) -> bytes:
    """The bytes of a note file with these fields; an empty field is left out."""
    fields = {"id": id, "name": name, "description": description, "status": status}
    lines = [f"{key}: {_scalar(value)}" for key, value in fields.items() if value]
    if tags:
        lines.append(f"tags: [{', '.join(_scalar(tag) for tag in tags)}]")
    return "\n".join(["---", *lines, "---", body]).encode()


def _scalar(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
