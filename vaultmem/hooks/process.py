"""The long way of `vaultmem hook`, where no worker took the whole event: an answer in time, or silence.

The settings are read and the session's rules applied in this process; the candidates come from a worker that may
have started meanwhile, else from words alone.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultmem.errors import EngineError
from vaultmem.hooks import budget
from vaultmem.hooks.events import answer_hook
from vaultmem.hooks.failures import log_failure

if TYPE_CHECKING:
    from vaultmem.config import Config
    from vaultmem.recall.answer import Ask, Clue


class Deadline:
    """Ends the process, with 0 and silence, when it takes too long; never in the middle of an answer."""

    def __init__(self, seconds: float, on_expiry: Callable[[], None]) -> None:
        self._gate = threading.Lock()
        self._on_expiry = on_expiry
        self._timer = threading.Timer(seconds, self._expire)
        self._timer.daemon = True
        self._timer.start()

    def close(self) -> bool:
        """The work is done, and what follows is not cut off any more; False when it is too late."""
        self._timer.cancel()
        return self._gate.acquire(blocking=False)

    def _expire(self) -> None:
        if self._gate.acquire(blocking=False):
            try:
                self._on_expiry()
            finally:
                os._exit(0)


def hook_process(client: str, named: Mapping[str, str], data: bytes, left_s: float) -> bytes:
    """What to print for the event that came on stdin; nothing also when the settings are wrong.

    `named` are the flags `--root` and `--state-dir`. Ends the process when it takes longer than `left_s`. From now
    on nobody in this process writes to the client's stdout.
    """
    _silence_stdout()
    state: dict[str, Path] = {}

    def too_slow() -> None:
        log_failure(state.get("dir"), client, "?", EngineError(f"no answer within {budget.PROCESS_S} s"))

    deadline = Deadline(left_s, too_slow)
    answer = ""
    try:
        from vaultmem.config import Config

        config = Config.load(root=named.get("--root"), state_dir=named.get("--state-dir"))
        state["dir"] = config.state_dir
        answer = answer_hook(config, client, data, worker_or_words(config))
    except Exception as error:
        log_failure(state.get("dir"), client, "?", error)
    return answer.encode("utf-8", "replace") if deadline.close() else b""


def _silence_stdout() -> None:
    """What libraries and their children print has no place in an answer."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


# --- asking


def worker_or_words(config: Config) -> Ask:
    """Ask the worker; without one, words alone have to do: a model is not loaded within a hook's budget."""

    def ask(query: str, *, limit: int, project: str | None, suppressed: Collection[str]) -> Sequence[Clue]:
        from vaultmem.worker.client import WorkerClient

        options = {
            "limit": limit,
            "min_score": config.min_score,
            "project": project,
            "suppressed": sorted(suppressed),
        }
        client = WorkerClient.connect(config)
        if client is not None:
            try:
                return client.clues(query, timeout_s=budget.CLUES_S, **options)
            except TimeoutError:
                raise EngineError("the worker did not answer in time") from None
            except OSError:
                pass  # it died this instant
        return _lexical_clues(config, query, options)

    return ask


def _lexical_clues(config: Config, query: str, options: dict[str, Any]) -> Sequence[Clue]:
    from vaultmem.config import EngineChoice
    from vaultmem.engine.engine import Engine
    from vaultmem.recall.answer import clues

    with Engine.open(config=config.with_engine(EngineChoice.NONE)) as engine:
        return clues(engine.recall(query, **options).candidates)
