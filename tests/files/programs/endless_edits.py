"""Edits one note again and again until it is killed: endless_edits.py ROOT. Says when it has begun.

Right before a version takes its place it waits a little, so that others save in that instant.
"""

import random
import re
import sys
import time
from pathlib import Path

from vaultmem.errors import RefusedError
from vaultmem.files import exchange
from vaultmem.files.vault import Vault

vault, real_swap = Vault(Path(sys.argv[1])), exchange.swap


def slow_swap(folder: int, one: str, other: str) -> bool:
    time.sleep(random.uniform(0.0, 0.004))
    return real_swap(folder, one, other)


exchange.swap = slow_swap
number = 0
while True:
    number += 1
    try:
        before, _ = vault.read("n.md")
        if b"save" not in before:  # half saved: no edit would prove itself
            continue
        vault.replace("n.md", before, re.sub(rb"edit \d*", b"edit %d" % number, before))
    except RefusedError as error:
        assert "cannot write" not in str(error), error
    if number == 1:
        print("ready", flush=True)
