"""vaultmem keeps an AI agent's Markdown memories searchable, healthy, and recalled at the right moment.

    from vaultmem import Engine

Public names are loaded when they are first used, so that `import vaultmem` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Engine": "vaultmem.engine.engine",
    "Config": "vaultmem.config",
    "Embedder": "vaultmem.embedding.embedder",
    "Recall": "vaultmem.recall.answer",
    "Hint": "vaultmem.recall.answer",
    "Candidate": "vaultmem.recall.answer",
    "Signals": "vaultmem.recall.scoring",
    "Verdict": "vaultmem.recall.scoring",
    "Code": "vaultmem.notes.problems",
    "Diagnostic": "vaultmem.notes.diagnostics",
    "Severity": "vaultmem.notes.diagnostics",
    "Status": "vaultmem.notes.metadata",
    "SyncReport": "vaultmem.events",
    "VaultmemError": "vaultmem.errors",
}
__all__ = ["__version__", *sorted(_HOMES)]

if TYPE_CHECKING:
    from vaultmem.config import Config as Config
    from vaultmem.embedding.embedder import Embedder as Embedder
    from vaultmem.engine.engine import Engine as Engine
    from vaultmem.errors import VaultmemError as VaultmemError
    from vaultmem.events import SyncReport as SyncReport
    from vaultmem.notes.diagnostics import Diagnostic as Diagnostic
    from vaultmem.notes.diagnostics import Severity as Severity
    from vaultmem.notes.metadata import Status as Status
    from vaultmem.notes.problems import Code as Code
    from vaultmem.recall.answer import Candidate as Candidate
    from vaultmem.recall.answer import Hint as Hint
    from vaultmem.recall.answer import Recall as Recall
    from vaultmem.recall.scoring import Signals as Signals
    from vaultmem.recall.scoring import Verdict as Verdict


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'vaultmem' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
