"""Prompts that come at once take turns at the worker's warm engine; words alone answer one that waits too long.

A recall with vectors takes all the cores it may have, so of twenty prompts at once the last would be too late for
its client. Words alone take a fraction of that, and a lexical answer in time is worth more than a better one that
nobody reads any more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from vaultmem.errors import EngineError
from vaultmem.hooks import budget
from vaultmem.hooks.events import answer_hook
from vaultmem.recall.answer import Clue, clues

if TYPE_CHECKING:
    from vaultmem.config import Config
    from vaultmem.engine.engine import Engine
    from vaultmem.recall.answer import Recall


class Turns:
    """One engine for many prompts, and beside it one without a model, opened when it is first needed."""

    def __init__(self, engine: Engine, open_words: Callable[[Config], Engine] | None = None) -> None:
        self._engine = engine
        self._open_words = open_words or _open_words
        self._turn = threading.Lock()
        self._opening = threading.Lock()
        self._words: Engine | None = None

    def answer_hook(self, client: str, text: str) -> str:
        """What a hook prints that hands its whole event to the worker. Never raises."""
        left_until = time.monotonic() + budget.WORKER_S

        def ask(
            query: str, *, limit: int, project: str | None, suppressed: Collection[str]
        ) -> Sequence[Clue]:
            left_s = left_until - time.monotonic()
            found = self.recall(
                query, limit=limit, project=project, suppressed=suppressed, time_limit_s=left_s
            )
            return clues(found.candidates)

        return answer_hook(self._engine.config, client, text, ask)

    def recall(
        self, query: str, *, limit: int, project: str | None, suppressed: Collection[str], time_limit_s: float
    ) -> Recall:
        """The answer to a prompt.

        Raises:
            EngineError: it took longer than `time_limit_s`, so nobody waits for it: what is not seen must not be
                recorded as given. And what `Engine.recall` raises.
        """
        started = time.monotonic()
        if self._turn.acquire(timeout=budget.TURN_S):
            try:
                found = self._engine.recall(query, limit=limit, project=project, suppressed=suppressed)
            finally:
                self._turn.release()
        else:
            found = self._by_words().recall(query, limit=limit, project=project, suppressed=suppressed)
        if time.monotonic() - started > time_limit_s:
            raise EngineError("the answer came too late")
        return found

    def close(self) -> None:
        """Close the engine that was opened here."""
        with self._opening:
            if self._words is not None:
                self._words.close()
                self._words = None

    def _by_words(self) -> Engine:
        with self._opening:
            if self._words is None:
                self._words = self._open_words(self._engine.config)
            return self._words


def _open_words(config: Config) -> Engine:
    from vaultmem.config import EngineChoice
    from vaultmem.engine.engine import Engine

    return Engine.open(config=config.with_engine(EngineChoice.NONE))
