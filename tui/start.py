"""The dashboard in a process of its own: the app on the engine of a configuration, and an interpreter that fits it."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

from tui.app import VaultmemApp
from tui.ending import Ending
from tui.models.preview import Settings

if TYPE_CHECKING:
    from vaultmem import Engine
    from vaultmem.config import Config

SWITCH_S = 0.001
"""How long a busy thread keeps the interpreter while a key waits; Python's own 5 ms add up over a key's way."""

GC_THRESHOLDS = (50_000, 20, 50)
"""Objects between two collections: reading 10,000 notes makes many that live, and each full look at them is a pause."""


def run(config: Config, *, read_only: bool) -> int:
    """Show the dashboard until it is left. The result is the process's exit code: 128 + N where signal N ended it."""

    def open_engine() -> Engine:
        from vaultmem import Engine

        return Engine.open(config=config, hold=not read_only, watch=True)

    settings = Settings(
        min_score=config.min_score,
        limit=config.hint_limit,
        budget_chars=config.hint_budget_chars,
        description_width=config.description_width,
    )
    app = VaultmemApp(open_engine, root=config.root, is_read_only=read_only, settings=settings)
    ending = Ending(lambda code: app.exit(return_code=code))
    sys.setswitchinterval(SWITCH_S)
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    with ending.by_signal():
        try:
            app.run()
        finally:
            app.close_engine()
    if ending.code is not None:
        return ending.code
    return 1 if app.return_code is None else app.return_code
