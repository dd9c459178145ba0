"""Filling in vectors: embed what is pending, newest notes first, and swap each note's rows when all are there.

Embed first, swap last: a failing embedder costs no note its place. Vectors are kept by text before any row is
written, so a kill loses at most the texts of one round. A round is about a second of embedding.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vaultmem.data.shipped import read_bytes
from vaultmem.embedding.calibration import (
    Calibration,
    calibrate,
    calibration_key,
    shipped_calibration,
    shipped_name,
)
from vaultmem.embedding.embedder import Embedder
from vaultmem.errors import EmbedderError, StoreError
from vaultmem.events import Filled, Phase, Progress
from vaultmem.files.vault import Vault
from vaultmem.notes.chunks import CHUNKER, metadata_text, split_body, text_hash
from vaultmem.stores.caches import Caches, StoreName
from vaultmem.stores.catalog_rows import NoteRow
from vaultmem.stores.dense import DenseStore
from vaultmem.stores.dense_rows import DenseRow, Part
from vaultmem.stores.folders import in_parts
from vaultmem.stores.vectors import VECTORS
from vaultmem.sync import integrity
from vaultmem.sync.lexical import PARSER
from vaultmem.text.languages import language

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

ROUND_S = 3.0
"""How much embedding happens between two swaps: an edit made meanwhile waits no longer than this."""

TEXTS_PER_CALL = 8
"""Texts embedded at once: small enough for a query to slip in between, large enough for the engine to batch."""

FIRST_ROUND_TEXTS = 8
MOST_ROUND_TEXTS = 512
NOTES_PER_ROUND = 256


@dataclass(frozen=True, slots=True)
class RowText:
    """One text of a note that gets a row."""

    part: Part
    ordinal: int
    heading: str
    line_start: int
    line_end: int
    text: str
    text_hash: str


@dataclass(frozen=True, slots=True)
class Work:
    """A pending note and its texts."""

    row: NoteRow
    texts: tuple[RowText, ...]


@dataclass(slots=True)
class Pace:
    """How fast texts are embedded, and so how many make a round."""

    texts: int = 0
    seconds: float = 0.0
    started: float = field(default_factory=time.monotonic)

    def add(self, texts: int, seconds: float) -> None:
        """Count a call."""
        self.texts += texts
        self.seconds += seconds

    @property
    def round_texts(self) -> int:
        """How many texts take about ROUND_S."""
        if not self.texts:
            return FIRST_ROUND_TEXTS
        per_round = int(ROUND_S * self.texts / max(self.seconds, 1e-6))
        return min(max(per_round, FIRST_ROUND_TEXTS), MOST_ROUND_TEXTS)

    def seconds_left(self, done: int, total: int) -> float | None:
        """An estimate for the notes that remain, once a few are done."""
        if done < 1:
            return None
        return (time.monotonic() - self.started) / done * (total - done)


def dense_rules(embedder: Embedder) -> str:
    """What the rows of the dense store depend on."""
    return f"{calibration_key(embedder.fingerprint)} {PARSER} {CHUNKER}"


def kept_calibration(caches: Caches, embedder: Embedder) -> Calibration | None:
    """The calibration of this model, if it ships or was computed before."""
    shipped = shipped_calibration(embedder.fingerprint)
    if shipped is not None:
        return shipped
    try:
        vectors = caches.vectors
        data = vectors.get_calibration(calibration_key(embedder.fingerprint)) if vectors else None
        return Calibration.from_bytes(data) if data else None
    except (ValueError, StoreError):  # damaged: as good as none
        return None


def forget_damaged_calibration(caches: Caches, embedder: Embedder) -> None:
    """See to it that a calibration that is there, but cannot be read, is computed again."""
    if caches.vectors is not None and kept_calibration(caches, embedder) is None:
        caches.vectors.put_calibration(calibration_key(embedder.fingerprint), b"")


def fill_all(
    write: Callable[[], AbstractContextManager[Caches]],
    vault: Vault,
    embedder: Embedder,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Filled:
    """Calibrate the model if it is new here, see that the dense store is its own, and embed what is pending.

    `write` gives the caches for one short use at a time, so that syncs and queries come in between. A dense store or
    a file of kept vectors that turns out to be broken is begun anew, once.

    Raises:
        EmbedderError: the model cannot be loaded, or failed; what was done stays done.
        StoreError: a store cannot be written.
    """
    report = on_progress or (lambda _: None)

    def attempt() -> Filled:
        with write() as caches:
            if _is_filled(caches, embedder):
                return Filled()
        calibration = _calibration_of(write, embedder)
        with write() as caches:
            if caches.made_with(StoreName.DENSE) != dense_rules(embedder):
                dimension = len(calibration.passage_means["en"])
                caches.begin(StoreName.DENSE, dense_rules(embedder), dimension=dimension)
        return fill(write, vault, embedder, calibration, should_stop=should_stop, on_progress=report)

    try:
        return attempt()
    except StoreError as error:
        with write() as caches:
            if error.store == VECTORS:
                caches.replace_vectors(error)
            elif error.store == StoreName.DENSE:
                caches.condemn(StoreName.DENSE, str(error))
            else:
                raise
        return attempt()


def _is_filled(caches: Caches, embedder: Embedder) -> bool:
    """Nothing is to be done; finding that out loads neither numpy nor the model."""
    if caches.made_with(StoreName.DENSE) != dense_rules(embedder) or caches.catalog.pending_count():
        return False
    if read_bytes(shipped_name(embedder.fingerprint)) is not None:
        return True
    vectors = caches.vectors
    return vectors is not None and bool(vectors.get_calibration(calibration_key(embedder.fingerprint)))


def _calibration_of(write: Callable[[], AbstractContextManager[Caches]], embedder: Embedder) -> Calibration:
    with write() as caches:
        calibration = kept_calibration(caches, embedder)
    if calibration is None:
        calibration = calibrate(embedder.queries, embedder.passages, embedder.fingerprint)
        with write() as caches:
            assert caches.vectors is not None  # a writer always has them
            caches.vectors.put_calibration(calibration_key(embedder.fingerprint), calibration.to_bytes())
    return calibration


def fill(
    write: Callable[[], AbstractContextManager[Caches]],
    vault: Vault,
    embedder: Embedder,
    calibration: Calibration,
    *,
    should_stop: Callable[[], bool],
    on_progress: Callable[[Progress], None],
) -> Filled:
    """Embed until nothing is pending or `should_stop`.

    Raises:
        EmbedderError: the model failed; what was done stays done.
        StoreError: a store cannot be written.
    """
    filled, pace, tried = Filled(), Pace(), set[tuple[int, str]]()
    with write() as caches:
        total = caches.catalog.pending_count()
    while not should_stop():
        with write() as caches:
            works, vectors = _next_round(caches, vault, embedder, pace, tried)
        if not works:
            break
        missing = _missing(works, vectors)
        filled.chunks_reused += sum(len(work.texts) for work in works) - len(missing)
        for batch in in_parts(list(missing.items()), TEXTS_PER_CALL):
            if should_stop():
                return filled
            made = _embed(embedder, batch, pace)
            with write() as caches:
                assert caches.vectors is not None
                caches.vectors.put(embedder.fingerprint, made, time.time())
            vectors |= made
            filled.chunks_embedded += len(made)
        with write() as caches:
            filled.notes += _swap(caches, works, vectors, calibration)
        tried |= {(work.row.note_key, work.row.digest) for work in works}
        left = pace.seconds_left(filled.notes, max(total, filled.notes))
        on_progress(Progress(Phase.EMBEDDING, filled.notes, max(total, filled.notes), left))
    return filled


def _next_round(
    caches: Caches, vault: Vault, embedder: Embedder, pace: Pace, tried: set[tuple[int, str]]
) -> tuple[list[Work], dict[str, Vector]]:
    """The newest pending notes that make a round, and the vectors that their texts have already."""
    works, vectors, wanted = list[Work](), dict[str, "Vector"](), 0
    assert caches.vectors is not None
    for row in caches.catalog.to_embed(NOTES_PER_ROUND + len(tried)):
        if (row.note_key, row.digest) in tried:
            continue
        work = texts_of(vault, row)
        if work is None:
            tried.add((row.note_key, row.digest))
            continue
        hashes = [text.text_hash for text in work.texts]
        kept = caches.vectors.get(embedder.fingerprint, [h for h in hashes if h not in vectors])
        vectors |= kept
        works.append(work)
        wanted += sum(h not in vectors for h in hashes)
        if wanted >= pace.round_texts or len(works) >= NOTES_PER_ROUND:
            break
    caches.vectors.touch(embedder.fingerprint, vectors, time.time())
    return works, vectors


def texts_of(vault: Vault, row: NoteRow) -> Work | None:
    """The texts of the note on record, or None when its file has changed since: the next sync will tell."""
    reading = vault.note_at(row.path)
    if reading is None or reading.note.digest != row.digest:
        return None
    note = reading.note
    metadata = metadata_text(note.name, note.description, note.tags)
    first = RowText(Part.METADATA, 0, "", 0, 0, metadata, text_hash(metadata))
    body = (
        RowText(Part.BODY, c.ordinal, c.heading, c.line_start, c.line_end, c.text, c.text_hash)
        for c in split_body(note.body, note.body_line)
    )
    return Work(row, (first, *body))


def _missing(works: Sequence[Work], vectors: Mapping[str, Vector]) -> dict[str, str]:
    """Hash to text of what has no vector yet, each text once, in the order of the works."""
    return {t.text_hash: t.text for work in works for t in work.texts if t.text_hash not in vectors}


def _embed(embedder: Embedder, batch: Sequence[tuple[str, str]], pace: Pace) -> dict[str, Vector]:
    started = time.perf_counter()
    vectors = embedder.passages([text for _, text in batch])
    pace.add(len(batch), time.perf_counter() - started)
    if len(vectors) != len(batch):
        raise EmbedderError(f"{embedder.model} gave {len(vectors)} vectors for {len(batch)} texts")
    return {hashed: vector for (hashed, _), vector in zip(batch, vectors, strict=True)}


def _swap(
    caches: Caches, works: Sequence[Work], vectors: Mapping[str, Vector], calibration: Calibration
) -> int:
    """Add the new rows, vouch for them, delete the old ones. Notes that changed meanwhile stay pending."""
    now = caches.catalog.rows_by_key([work.row.note_key for work in works])
    current = [w for w in works if w.row.note_key in now and now[w.row.note_key].digest == w.row.digest]
    dense = caches.dense
    if not current or dense is None:
        return 0
    with integrity.changing(caches):
        dense.add([row for work in current for row in _dense_rows(work, vectors, calibration)])
        with caches.catalog.transaction():
            caches.catalog.set_digests(StoreName.DENSE, {w.row.note_key: w.row.digest for w in current})
        _delete_old(dense, current)
    return len(current)


def _delete_old(dense: DenseStore, works: Sequence[Work]) -> None:
    old = [(work.row.note_key, work.row.dense_digest) for work in works]
    dense.delete([(key, digest) for key, digest in old if digest is not None])


def _dense_rows(work: Work, vectors: Mapping[str, Vector], calibration: Calibration) -> Iterator[DenseRow]:
    import numpy as np

    languages = [language(text.text) for text in work.texts]
    raw = np.stack([vectors[text.text_hash] for text in work.texts])
    for text, lang, vector in zip(
        work.texts, languages, calibration.centre_passages(raw, languages), strict=True
    ):
        yield DenseRow(
            note_key=work.row.note_key,
            digest=work.row.digest,
            part=text.part,
            ordinal=text.ordinal,
            heading=text.heading,
            line_start=text.line_start,
            line_end=text.line_end,
            text=text.text,
            text_hash=text.text_hash,
            lang=lang,
            vector=vector,
        )
