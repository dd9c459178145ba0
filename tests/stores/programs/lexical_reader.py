"""Prints what a lexical store holds for each line of its stdin: lexical_reader.py FOLDER."""

import sys
from pathlib import Path

from vaultmem.stores.lexical import LexicalStore

store = LexicalStore(Path(sys.argv[1]), writable=False)
for _ in sys.stdin:
    frequency = store.document_frequencies(["alpha"])["alpha"]
    print(sorted(store.versions()), frequency, store.statistics())
