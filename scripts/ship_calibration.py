"""Compute the bundled model's calibration and put it beside the texts it was made from (`make calibration`).

With it a new user's first sync begins to embed their notes at once, instead of half a minute later.
"""

from __future__ import annotations

from pathlib import Path

import vaultmem.data
from vaultmem.embedding.calibration import calibrate, shipped_name
from vaultmem.embedding.embedder import open_embedder


def main() -> None:
    embedder = open_embedder("bundled")
    assert embedder is not None
    folder = Path(vaultmem.data.__file__).parent
    for old in folder.glob("calibration-*.npz"):
        old.unlink()
    calibration = calibrate(embedder.queries, embedder.passages, embedder.fingerprint)
    (folder / shipped_name(embedder.fingerprint)).write_bytes(calibration.to_bytes())


if __name__ == "__main__":
    main()
