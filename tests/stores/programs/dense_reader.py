"""Prints the versions in a dense store for each line of its stdin: dense_reader.py FOLDER DIMENSION."""

import sys
from pathlib import Path

from vaultmem.stores.dense import DenseStore

store = DenseStore(Path(sys.argv[1]), int(sys.argv[2]), writable=False)
for _ in sys.stdin:
    print(sorted(store.versions().items()))
