"""Opens an empty dense store, asks it everything, and prints what that has loaded: empty_dense_store.py FOLDER."""

import sys
from pathlib import Path

from vaultmem.stores.dense import DenseStore

store = DenseStore(Path(sys.argv[1]), 8, writable=True)
store.count()
store.versions()
store.rows([1])
store.delete([(1, "a")])
store.maintain()
store.size_bytes()
store.close()
print([name for name in ("lancedb", "pyarrow", "numpy") if name in sys.modules])
