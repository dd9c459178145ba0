"""FOLDER DIMENSION: for each line, which versions a dense store holds."""

import sys
from pathlib import Path

from vaultmem.stores.dense import DenseStore

store = DenseStore(Path(sys.argv[1]), int(sys.argv[2]), writable=False)
for _ in sys.stdin:
    print(sorted(store.versions().items()))
