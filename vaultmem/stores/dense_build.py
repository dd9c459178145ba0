"""The child process that rebuilds a vector index: `python -m vaultmem.stores.dense_build FOLDER DIMENSION`.

Internal: started by `DenseStore.maintain` and ended by the end of its stdin, so that it never outlives the process
that holds the writer's lock. Exit code 0 means that the index is there.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from vaultmem.errors import StoreError
from vaultmem.stores.dense import DenseStore

NICENESS = 10
"""The build gives way to whoever waits for an answer."""


def main(arguments: list[str]) -> int:
    """Rebuild the index of the store that the arguments name."""
    folder, dimension = arguments
    threading.Thread(target=_die_with_the_parent, daemon=True).start()
    os.nice(NICENESS)
    try:
        DenseStore(Path(folder), int(dimension), writable=True).rebuild_index()
    except StoreError:
        return 1
    return 0


def _die_with_the_parent() -> None:
    # Not through sys.stdin: its buffer's lock, held here, would break the interpreter's exit.
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
