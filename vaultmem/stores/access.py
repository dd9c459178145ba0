"""Who may write the caches of a state dir, and the handles for writing and for reading them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from vaultmem.errors import EngineError, StoreError, WriterBusyError
from vaultmem.files.lock import WriterLock, holder
from vaultmem.stores.caches import Caches
from vaultmem.stores.folders import advice_for

WRITER_WAIT_S = 5.0
"""How long a command waits for another writer."""

STATE_DIR_ADVICE = (
    "Make it a folder that you may write (who owns it?), or choose another: --state-dir, VAULTMEM_STATE_DIR."
)

TURN_WAIT_S = 0.2
"""Another thread's turn is short but for a large sync: whoever is in a hurry waits this long for it."""


class Access:
    """One process's way to a state dir. With `hold` the lock is kept once it is taken, else it is taken per use.

    Threads take turns: one writes at a time, and one reads at a time, beside the one that writes.
    """

    def __init__(self, state_dir: Path, *, hold: bool) -> None:
        self.state_dir = state_dir
        self._keeps_lock = hold
        self._users = 0
        self._is_closed = False
        self._process = os.getpid()
        self._lock = WriterLock(state_dir / "writer.lock")
        self._writing = threading.RLock()
        self._reading = threading.RLock()
        self._writer: Caches | None = None
        self._reader: Caches | None = None

    @property
    def is_writer(self) -> bool:
        """This process holds the writer's lock."""
        return self._lock.is_held

    @property
    def writer_pid(self) -> int | None:
        """The live process that holds the lock, this one included."""
        return holder(self.state_dir / "writer.lock")

    @property
    def is_read_only(self) -> bool:
        """There is a state dir, and this process may not write in it."""
        return self.state_dir.is_dir() and not os.access(self.state_dir, os.W_OK | os.X_OK)

    def try_become_writer(self) -> bool:
        """Take the lock and keep it, if it is free; whether it is held now."""
        with self._writing:
            self._check_usable()
            with self._state_dir_failures():
                is_taken = self._lock.try_acquire()
            if is_taken:
                self._keeps_lock = True
            return self._lock.is_held

    @contextmanager
    def writer(self, timeout_s: float | None = None) -> Iterator[Caches]:
        """The caches, for writing; re-entrant. Other threads of this process wait meanwhile.

        Raises:
            WriterBusyError: another process keeps the lock for longer than `timeout_s` (None: WRITER_WAIT_S), or
                another thread is at it for longer than that (None: never).
            StoreError: the state dir cannot be used.
        """
        with self._turn(timeout_s), self._lock_held(timeout_s):
            yield self._opened_writer()

    @contextmanager
    def holding(self, timeout_s: float | None = None) -> Iterator[None]:
        """Keep the lock over several uses of `writer`, between which other threads have their turns. Raises as it."""
        with ExitStack() as stack:
            with self._turn(timeout_s):
                stack.enter_context(self._lock_held(timeout_s))
            yield

    @contextmanager
    def _turn(self, timeout_s: float | None) -> Iterator[None]:
        wait_s = -1 if timeout_s is None else max(timeout_s, TURN_WAIT_S)
        if not self._writing.acquire(timeout=wait_s):
            raise WriterBusyError("this process is in the middle of a sync", pid=os.getpid())
        try:
            yield
        finally:
            self._writing.release()

    @contextmanager
    def _lock_held(self, timeout_s: float | None) -> Iterator[None]:
        self._check_usable()
        with self._state_dir_failures():
            self._lock.acquire(WRITER_WAIT_S if timeout_s is None else timeout_s)
        self._users += 1
        try:
            yield
        finally:
            with self._writing:
                self._users -= 1
                if not (self._users or self._keeps_lock):
                    self._let_go()

    def _opened_writer(self) -> Caches:
        if self._writer is not None and self._writer.catalog.is_detached:
            self._writer.close()
            self._writer = None
        if self._writer is None:
            with self._state_dir_failures():
                self._writer = Caches(self.state_dir, writable=True)
        return self._writer

    def _let_go(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._lock.release()

    @contextmanager
    def reader(self) -> Iterator[Caches]:
        """The caches, for reading; re-entrant.

        Raises:
            StoreError: there are none yet, or they cannot be read.
        """
        with self._reading:
            self._check_usable()
            if self._reader is not None and self._reader.catalog.is_detached:
                self.drop_reader()
            if self._reader is None:
                with self._state_dir_failures():
                    self._reader = Caches(self.state_dir, writable=False)
            yield self._reader

    def drop_reader(self) -> None:
        """Open what is read anew at the next use."""
        with self._reading:
            if self._reader is not None:
                self._reader.close()
                self._reader = None

    def close(self) -> None:
        """Close every handle and release the lock."""
        with self._writing:
            self._is_closed = True
            self._let_go()
        self.drop_reader()

    @contextmanager
    def _state_dir_failures(self) -> Iterator[None]:
        """What the system refuses in the state dir is a StoreError that says what to do."""
        try:
            yield
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            raise StoreError(
                f"the state folder {self.state_dir} cannot be used: {error.strerror or error}{where}",
                advice=advice_for(self.state_dir, STATE_DIR_ADVICE),
            ) from error

    def _check_usable(self) -> None:
        """A thread that outlives `close` must not take the lock again; a forked child has no handles of its own."""
        if self._is_closed:
            raise EngineError("the engine was closed", advice="Open another one.")
        if os.getpid() != self._process:
            raise EngineError(
                "the engine was opened by another process", advice="Open one of your own after a fork."
            )
