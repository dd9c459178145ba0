"""Syncs once, as soon as a line comes in; its libraries are loaded by then: sync_on_request.py ROOT STATE_DIR."""

import sys

import lancedb  # noqa: F401
import tantivy  # noqa: F401

from vaultmem.engine.engine import Engine
from vaultmem.testing import HashingEmbedder

print("ready", flush=True)
sys.stdin.readline()
with Engine.open(sys.argv[1], sys.argv[2], HashingEmbedder(size=16)) as engine:
    engine.sync()
