"""ROOT STATE_DIR: tags notes again and again until it is killed; says when it has begun."""

import itertools
import random
import sys

from vaultmem.engine.engine import Engine
from vaultmem.errors import RefusedError
from vaultmem.files import exchange

real_swap = exchange.swap


def slow_swap(folder: int, one: str, other: str) -> bool:
    """More kills and saves fall into the instants before and after."""
    for _ in range(random.randrange(20_000)):
        pass
    return real_swap(folder, one, other)


exchange.swap = slow_swap
with Engine.open(sys.argv[1], sys.argv[2], "none", hold=True) as engine:
    engine.sync()
    for n in itertools.count():
        try:
            engine.edit_tags(None, set=["t", f"turn{n}"], path=f"n{random.randrange(3)}.md")
        except RefusedError as error:  # somebody is saving it, or has only begun to
            passing = ("changed since", "open for writing", "has no metadata block", "keeps changing")
            assert any(reason in str(error) for reason in passing), error
        if n == 0:
            print("ready", flush=True)
