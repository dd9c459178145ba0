"""Adds to a lexical store until it is killed, or waits `in a commit`: lexical_writer.py FOLDER MOMENT."""

import sys
from pathlib import Path

from vaultmem.stores.lexical import LexicalDoc, LexicalStore

store = LexicalStore(Path(sys.argv[1]), writable=True)
if sys.argv[2] == "in a commit":
    with store._writing():
        print("writing")
        sys.stdin.read()
for key in range(100_000):
    store.add([LexicalDoc(key, "aa", {"alpha": 1, f"w{n}": 2}) for n in range(3)])
    print(key)
