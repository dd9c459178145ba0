"""Syncs in a forked child, before its parent has opened the stores and after: fork_and_sync.py ROOT STATE_DIR."""

import os
import sys

from vaultmem.engine.engine import Engine
from vaultmem.errors import EngineError
from vaultmem.testing import HashingEmbedder


def sync_in_child() -> None:
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with Engine.open(sys.argv[1], sys.argv[2], HashingEmbedder(size=16)) as engine:
                said = f"synced {engine.sync().scanned}"
        except EngineError as error:
            said = f"refused: {error}"
        os.write(write_end, said.encode())
        os._exit(0)
    os.close(write_end)
    os.waitpid(child, 0)
    print(os.read(read_end, 500).decode())


sync_in_child()
with Engine.open(sys.argv[1], sys.argv[2], HashingEmbedder(size=16), hold=True) as engine:
    engine.sync(full=True)
    engine.recall("alpha")
sync_in_child()
