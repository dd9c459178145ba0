"""FOLDER MOMENT: adds to a lexical store without an end and says each key, or stays in the middle of a commit."""

import sys
from pathlib import Path

from vaultmem.stores.lexical import LexicalStore
from vaultmem.stores.lexical_documents import LexicalDoc

store = LexicalStore(Path(sys.argv[1]), writable=True)
if sys.argv[2] == "in a commit":
    with store._writing():
        print("writing")
        sys.stdin.read()
for key in range(100_000):
    store.add([LexicalDoc(key, "aa", {"alpha": 1, f"w{n}": 2}) for n in range(3)])
    print(key)
