"""A process that replaces a note and is killed at its n-th call to the system; somebody else saves in between."""

import contextlib
import os
import signal
import sys
from pathlib import Path

from vaultmem.files import exchange
from vaultmem.files.vault import Vault

root, step, save = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
count = 0


def killing(real):  # type: ignore[no-untyped-def]
    def call(*arguments, **options):  # type: ignore[no-untyped-def]
        global count
        if count == step:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 1
        return real(*arguments, **options)

    return call


real_swap, real_replace, saves = exchange.swap, os.replace, iter([save] if save else [])


def swap_after_save(folder: int, one: str, other: str) -> bool:
    for text in saves:
        (root / "saving").write_text(text)
        real_replace(root / "saving", root / "n.md")
    return real_swap(folder, one, other)


exchange.swap = killing(swap_after_save)
for name in ("open", "write", "fsync", "rename", "fchmod", "unlink", "fstat", "pread", "mkdir", "close"):
    setattr(os, name, killing(getattr(os, name)))
with contextlib.suppress(Exception):
    Vault(root).replace("n.md", b"old", b"new")
os._exit(0)
