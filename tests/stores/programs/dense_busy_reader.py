"""Asks a dense store forty times for each line of its stdin: dense_busy_reader.py FOLDER DIMENSION."""

import sys
from pathlib import Path

import numpy as np

from vaultmem.stores.dense import DenseStore

store = DenseStore(Path(sys.argv[1]), int(sys.argv[2]), writable=False)
vector = np.ones(int(sys.argv[2]), dtype=np.float32)
for _ in sys.stdin:
    answers = [(len(store.near_notes(vector, 400)), len(store.rows(range(10, 20)))) for _ in range(40)]
    print(set(answers))
