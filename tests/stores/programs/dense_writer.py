"""FOLDER: notes come and go in a dense store without an end; says the key of each."""

import sys
from pathlib import Path

from tests.stores.rows import filled, note

store = filled(Path(sys.argv[1]), 0)
for key in range(100_000):
    store.add(note(key))
    if key:
        store.delete([(key - 1, "aa")])
    print(key)
