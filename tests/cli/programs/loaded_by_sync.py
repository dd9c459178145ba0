"""NAMES ROOT STATE_DIR: sync with a model; on stderr how many notes changed, and which modules it has loaded."""

import sys

from vaultmem.engine.engine import Engine
from vaultmem.testing import HashingEmbedder

changed = Engine.open(*sys.argv[2:], HashingEmbedder(size=16)).sync().changed
print(changed, *[name for name in sys.argv[1].split(",") if name in sys.modules], file=sys.stderr)
