"""Replaces note by note in a dense store until it is killed: dense_writer.py FOLDER DIMENSION ROWS_PER_NOTE."""

import sys
from pathlib import Path

import numpy as np

from vaultmem.stores.dense import DenseStore
from vaultmem.stores.dense_rows import DenseRow, Part

dimension, rows = map(int, sys.argv[2:])
vector = np.full(dimension, dimension**-0.5, dtype=np.float32)
store = DenseStore(Path(sys.argv[1]), dimension, writable=True)
for key in range(100_000):
    store.add(
        [
            DenseRow(key, "aa", Part.BODY, n, "", 1, 2, "text " * 20, f"{key}-aa-{n}", "en", vector)
            for n in range(rows)
        ]
    )
    if key:
        store.delete([(key - 1, "aa")])
    print(key)
