"""Everything that vaultmem raises on purpose.

    VaultmemError
    ├── UsageError               wrong words from the caller                        exit 2
    │   ├── ConfigError          a setting that cannot be used; names its source
    │   └── GoldenSetError       a golden set that does not fit its vault (in `golden`)
    ├── RefusedError             the answer is no; nothing was changed              exit 1
    │   ├── NoteNotFoundError    no note has this id or path
    │   ├── ConflictError        several notes have this id; `paths` lists them
    │   ├── EditRefusedError     an edit that cannot be proven harmless
    │   └── ConcurrentChangeError  the file is no longer the one that was read
    └── EngineError              the engine cannot work                             exit 3
        ├── RootMissingError     the memory root is gone or cannot be read
        ├── WriterBusyError      another live process holds the writer's lock
        ├── StoreError           a derived store is torn, foreign or unusable
        ├── EmbedderError        the embedding engine cannot be loaded or failed
        └── EvaluationError      a query of a golden set could not be answered (in `evaluation`)

The exceptions of a back end (lancedb, tantivy, sqlite3, watchdog, torch) never leave the module that owns it.
A message says what is wrong and where; `advice` says what to do.
"""

from __future__ import annotations

from typing import ClassVar


class VaultmemError(Exception):
    """Base of the tree. `str(error)` is what is wrong and where; `advice` is what to do, or empty."""

    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


class UsageError(VaultmemError):
    """The caller's words are wrong; the advice shows the right form."""

    exit_code = 2


class ConfigError(UsageError):
    """A setting is unknown or has a value that cannot be used; the message names the file or variable."""


class RefusedError(VaultmemError):
    """The answer is no, and nothing was changed."""

    exit_code = 1


class NoteNotFoundError(RefusedError):
    """No note has this id, or no note lies at this path."""


class ConflictError(RefusedError):
    """Several notes carry one id. `paths` are relative to the memory root."""

    def __init__(self, message: str, *, paths: tuple[str, ...], advice: str = "") -> None:
        super().__init__(message, advice=advice)
        self.paths = paths


class EditRefusedError(RefusedError):
    """An edit whose result could not be proven to change only what was asked for."""


class ConcurrentChangeError(RefusedError):
    """The file changed between reading and writing: what another wrote stands.

    `kept` is where the loser lies when three versions met, relative to the memory root; "" when nothing was lost.
    """

    def __init__(self, message: str, *, advice: str = "", kept: str = "") -> None:
        super().__init__(message, advice=advice)
        self.kept = kept


class EngineError(VaultmemError):
    """The engine as a whole cannot work."""


class RootMissingError(EngineError):
    """The memory root does not exist, is not a folder, or cannot be listed."""


class WriterBusyError(EngineError):
    """Another live process holds the writer's lock and did not release it in time. `pid` is its process id."""

    def __init__(self, message: str, *, pid: int | None = None, advice: str = "") -> None:
        super().__init__(message, advice=advice)
        self.pid = pid


class StoreError(EngineError):
    """A derived store cannot be opened, read or written; a rebuild mends it. `store` is its name, where it is known."""

    def __init__(self, message: str, *, store: str = "", advice: str = "") -> None:
        super().__init__(message, advice=advice)
        self.store = store


class EmbedderError(EngineError):
    """The embedding engine cannot be loaded, or failed on a text."""
