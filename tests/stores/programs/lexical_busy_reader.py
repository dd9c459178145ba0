"""Asks a lexical store two hundred times for each line of its stdin: lexical_busy_reader.py FOLDER."""

import sys
from pathlib import Path

from vaultmem.stores.lexical import LexicalStore

store = LexicalStore(Path(sys.argv[1]), writable=False)
for _ in sys.stdin:
    print({(len(store.search(["beta"], 10)), len(store.read(range(50, 60), []))) for _ in range(200)})
