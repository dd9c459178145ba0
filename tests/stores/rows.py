"""Rows of a dense store: single ones with all that is odd in them, and whole notes on disk."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import numpy as np

from vaultmem.stores import dense_upkeep
from vaultmem.stores.dense import DenseStore
from vaultmem.stores.dense_rows import DenseRow, Part

DIMENSION = 16
ROWS_PER_NOTE = 4


def unit(seed: int) -> np.ndarray:
    vector = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)
    return vector / np.linalg.norm(vector)


def row(note_key: int, digest: str = "aa", ordinal: int = 0, **changes: object) -> DenseRow:
    fields: dict = {
        "note_key": note_key,
        "digest": digest,
        "part": Part.BODY,
        "ordinal": ordinal,
        "heading": '标题 › It\'s "here"',
        "line_start": 3,
        "line_end": 9,
        "text": "x' OR 1=1; --\n第二行\t\0end",
        "text_hash": f"{note_key}-{digest}-{ordinal}",
        "lang": "zh",
        "vector": unit(crc32(f"{note_key} {digest} {ordinal}".encode())),
    }
    return DenseRow(**(fields | changes))


def same(one: DenseRow, other: DenseRow) -> bool:
    names = [name for name in DenseRow.__slots__ if name != "vector"]
    return all(getattr(one, n) == getattr(other, n) for n in names) and np.array_equal(
        one.vector, other.vector
    )


def vectors(count: int, seed: int = 0) -> np.ndarray:
    made = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def note(key: int, digest: str = "aa") -> list[DenseRow]:
    return [
        DenseRow(key, digest, Part.BODY, n, "", 1, 2, "text " * 20, f"{key}-{digest}-{n}", "en", vector)
        for n, vector in enumerate(vectors(ROWS_PER_NOTE, seed=key))
    ]


def filled(folder: Path, notes: int) -> DenseStore:
    store = DenseStore(folder, DIMENSION, writable=True)
    store.add([row for key in range(notes) for row in note(key)])
    return store


def state(store: DenseStore) -> dense_upkeep.TableState:
    return store._state(store._table.opened())
