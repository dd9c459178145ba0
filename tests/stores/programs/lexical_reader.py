"""FOLDER: for each line, which versions a lexical store holds, how many have "alpha", and its statistics."""

import sys
from pathlib import Path

from vaultmem.stores.lexical import LexicalStore

store = LexicalStore(Path(sys.argv[1]), writable=False)
for _ in sys.stdin:
    frequency = store.document_frequencies(["alpha"])["alpha"]
    print(sorted(store.versions()), frequency, store.statistics())
