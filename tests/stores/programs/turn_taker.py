"""A process that waits for the word, and then for its turn to write the caches."""

import sys
from pathlib import Path

from vaultmem.stores.access import Access

access = Access(Path(sys.argv[1]), hold=False)
print("ready", flush=True)
sys.stdin.readline()
with access.writer(timeout_s=20.0) as caches:
    caches.catalog.set_meta("turns", str(int(caches.catalog.meta("turns") or 0) + 1))
