"""The nearest memories: a worker's when one is alive, else an engine of this process, opened when needed.

Every call looks for the worker anew, so one that starts, dies or is replaced is noticed by the next call.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from vaultmem.errors import EngineError, NoteNotFoundError, StoreError, VaultmemError
from vaultmem.worker.client import Memories, WorkerClient

if TYPE_CHECKING:
    from vaultmem.config import Config
    from vaultmem.engine.engine import Engine
    from vaultmem.views import NoteCopy, OpenedMemory, Saved, SearchResult

_T = TypeVar("_T")


class Nearest:
    """Search, open and save for one memory root, safe to use from threads."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._opening = threading.Lock()
        self._engine: Engine | None = None
        self._is_indexed = False

    def warm_up(self) -> None:
        """Do now, in this thread, what the first call would wait for. Never raises: that call will tell."""
        try:
            if WorkerClient.connect(self._config) is None:
                self._own().freshen()
        except VaultmemError:
            pass

    def search(self, pattern: str, *, limit: int, fixed: bool = False) -> SearchResult:
        """Text search over the files as they are now. Raises what `Engine.search` raises."""
        if self._is_unindexed():
            from vaultmem.engine.text_search import search_unindexed

            return search_unindexed(self._config.root, pattern, limit=limit, fixed=fixed)
        return self._read(lambda memories: memories.search(pattern, limit=limit, fixed=fixed))

    def open_memory(self, key: str) -> OpenedMemory:
        """One memory, whole. Raises what `Engine.open_memory` raises."""
        if self._is_unindexed():
            from vaultmem.engine.text_search import open_unindexed

            with contextlib.suppress(NoteNotFoundError):  # the engine reads what is written in unusual ways
                return open_unindexed(self._config.root, key)
        return self._read(lambda memories: memories.open_memory(key))

    def copies(self, key: str) -> tuple[NoteCopy, ...]:
        """The notes that carry one id."""
        if self._is_unindexed():
            from vaultmem.engine.text_search import copies_unindexed

            if found := copies_unindexed(self._config.root, key):
                return found
        return self._read(lambda memories: memories.copies(key))

    def save(
        self,
        *,
        key: str | None,
        name: str | None,
        description: str | None,
        tags: Sequence[str] | None,
        body: str | None,
    ) -> Saved:
        """A new memory, or with `key` a change of one. Raises what `Engine.save` raises.

        A worker that goes silent may have written already: that is an EngineError, nothing is tried again.
        """
        client = WorkerClient.connect(self._config)
        memories: Memories = client or self._own()
        try:
            return memories.save(id=key, name=name, description=description, tags=tags, body=body)
        except OSError as error:
            if client is None:
                raise
            raise EngineError(
                f"the worker stopped answering while it saved ({type(error).__name__})",
                advice="Search for the memory before saving it again: it may have been written.",
            ) from None

    def close(self) -> None:
        """Close the engine, if one was opened."""
        with self._opening:
            if self._engine is not None:
                self._engine.close()
                self._engine = None

    def _read(self, ask: Callable[[Memories], _T]) -> _T:
        client = WorkerClient.connect(self._config)
        if client is not None:
            try:
                return ask(client)
            except OSError:
                pass  # it died, or is stuck: reading twice does no harm
        engine = self._own()
        try:
            return ask(engine)
        except NoteNotFoundError:
            engine.look_again()  # another process may have written it this instant
            return ask(engine)

    def _is_unindexed(self) -> bool:
        """No worker answers, and the first sync of this root is still to be finished, here or elsewhere."""
        if self._is_indexed or WorkerClient.connect(self._config) is not None:
            return False
        try:
            self._is_indexed = self._own().freshness.scanned_at is not None
        except StoreError:
            return True
        return not self._is_indexed

    def _own(self) -> Engine:
        with self._opening:
            if self._engine is None:
                from vaultmem.engine.engine import Engine

                self._engine = Engine.open(config=self._config)
            return self._engine
