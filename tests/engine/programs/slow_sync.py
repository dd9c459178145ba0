"""ROOT STATE_DIR: a sync that takes its time; says when it is ready to begin, and when it is done."""

import sys

import lancedb  # noqa: F401 - loaded before it is ready, not in the time that is measured
import numpy  # noqa: F401
import tantivy  # noqa: F401

from vaultmem.engine.engine import Engine
from vaultmem.testing import HashingEmbedder

root, state_dir = sys.argv[1:]
engine = Engine.open(root, state_dir, HashingEmbedder(size=16, delay_s=0.002))
print("ready", flush=True)
engine.sync()
print("done", flush=True)
