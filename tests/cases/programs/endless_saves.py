"""Saves one memory again and again, and new ones beside it, until it is killed: endless_saves.py ROOT STATE_DIR."""

import itertools
import sys

from vaultmem.engine.engine import Engine

with Engine.open(sys.argv[1], sys.argv[2], "none") as engine:
    for n in itertools.count():
        engine.save(id="kept", description=f"turn {n}", body=f"line {n}\n" * 200 + f"end {n}\n")
        engine.save(name=f"New {n}", description="d", tags=["t"], body="body\n" * 100 + "end\n")
        print("saved", flush=True)
