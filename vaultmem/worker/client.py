"""The engine's verbs, answered by a worker over its socket. What it needs of the socket is here as well.

A client that finds no worker, or a broken one, works alone: nothing here is needed, it is only faster.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from vaultmem.errors import UsageError
from vaultmem.worker.address import Address, find_address, is_ours
from vaultmem.worker.protocol import (
    MESSAGE_LIMIT_BYTES,
    decode,
    encode,
    plain,
    read_copies,
    read_error,
    read_memory,
    read_recall,
    read_saved,
    read_search,
)

if TYPE_CHECKING:
    from vaultmem.config import Config
    from vaultmem.recall.answer import Clue, Recall
    from vaultmem.views import Json, NoteCopy, OpenedMemory, Saved, SearchResult

CONNECT_TIMEOUT_S = 0.2
RECALL_TIMEOUT_S = 5.0
TOOL_TIMEOUT_S = 30.0
"""A search of a large vault on a slow disk, or a save that waits for a lock."""


class Memories(Protocol):
    """The verbs that agents need; `Engine` and `WorkerClient` both have them."""

    def recall(
        self,
        query: str,
        *,
        limit: int = 3,
        min_score: float | None = None,
        project: str | None = None,
        suppressed: Collection[str] = (),
    ) -> Recall: ...
    def search(
        self, pattern: str, *, limit: int = 20, fixed: bool = False, include_all: bool = False
    ) -> SearchResult: ...
    def open_memory(self, id: str) -> OpenedMemory: ...  # noqa: A002
    def copies(self, id: str) -> tuple[NoteCopy, ...]: ...  # noqa: A002
    def save(
        self,
        *,
        id: str | None = None,  # noqa: A002
        name: str | None = None,
        description: str | None = None,
        tags: Sequence[str] | None = None,
        body: str | None = None,
    ) -> Saved: ...


class WorkerClient:
    """The engine's verbs, answered by a worker. Each call is a connection of its own."""

    def __init__(self, address: Address) -> None:
        self._address = address

    @classmethod
    def connect(cls, config: Config) -> WorkerClient | None:
        """The client of the worker that serves this memory root, or None when none listens."""
        address = find_address(str(config.root))
        if address is None or address.state_dir != str(config.state_dir):
            return None
        try:
            with connected(address):
                return cls(address)
        except OSError:
            return None

    @property
    def pid(self) -> int:
        """The worker's process id."""
        return self._address.pid

    def close(self) -> None:
        """Nothing to let go of: an engine and a client can be held in the same way."""

    def call(self, method: str, params: Json | None = None, *, timeout_s: float = RECALL_TIMEOUT_S) -> Any:
        """One request and its result.

        Raises:
            VaultmemError: what the engine raised there.
            OSError: the worker is gone, or takes longer than `timeout_s`.
        """
        request = encode({"method": method, "params": params or {}})
        if len(request) > MESSAGE_LIMIT_BYTES:
            raise UsageError(f"a request of {len(request)} bytes is too long for the worker")
        with connected(self._address) as connection:
            connection.settimeout(timeout_s)
            connection.sendall(request)
            line = next(lines_of(connection), None)
        if line is None:
            raise ConnectionResetError("the worker closed the connection")
        answer = decode(line)
        if "error" in answer:
            raise read_error(answer["error"])
        return answer["result"]

    def clues(self, query: str, timeout_s: float = RECALL_TIMEOUT_S, **options: Any) -> tuple[Clue, ...]:
        """The candidates of a query without their signals, best first."""
        from vaultmem.recall.answer import Clue

        return tuple(
            Clue(**each)
            for each in self.call("clues", {"query": query, **plain(options)}, timeout_s=timeout_s)["clues"]
        )

    def recall(self, query: str, **options: Any) -> Recall:
        """As `Engine.recall`."""
        return read_recall(self.call("recall", {"query": query, **plain(options)}))

    def search(self, pattern: str, **options: Any) -> SearchResult:
        """As `Engine.search`."""
        data = self.call("search", {"pattern": pattern, **plain(options)}, timeout_s=TOOL_TIMEOUT_S)
        return read_search(data)

    def open_memory(self, id: str) -> OpenedMemory:  # noqa: A002
        """As `Engine.open_memory`."""
        return read_memory(self.call("open", {"key": id}, timeout_s=TOOL_TIMEOUT_S))

    def copies(self, id: str) -> tuple[NoteCopy, ...]:  # noqa: A002
        """As `Engine.copies`."""
        return read_copies(self.call("copies", {"key": id}, timeout_s=TOOL_TIMEOUT_S))

    def save(self, **fields: Any) -> Saved:
        """As `Engine.save`."""
        return read_saved(self.call("save", plain(fields), timeout_s=TOOL_TIMEOUT_S))


# --- sockets


@contextlib.contextmanager
def connected(address: Address) -> Iterator[socket.socket]:
    """A connection to a worker of this user. Raises OSError."""
    if not is_ours(address):
        raise ConnectionRefusedError("the worker's socket lies where others can reach it")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with connection:
        connection.settimeout(CONNECT_TIMEOUT_S)
        connection.connect(address.socket)
        if not is_same_user(connection):
            raise ConnectionRefusedError("the worker's socket belongs to another user")
        yield connection


def is_same_user(connection: socket.socket) -> bool:
    """The process at the other end runs as this user. Where no one can tell, the folder's mode has to do."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return bool(struct.unpack("3i", credentials)[1] == os.getuid())


def lines_of(connection: socket.socket) -> Iterator[bytes]:
    """The lines that arrive. Ends with the connection, and at a line of more than MESSAGE_LIMIT_BYTES."""
    pending = bytearray()
    while True:
        block = connection.recv(1 << 16)
        if not block:
            return
        scanned = len(pending)
        pending += block
        while (end := pending.find(b"\n", scanned)) >= 0:
            yield bytes(pending[:end])
            del pending[: end + 1]
            scanned = 0
        if len(pending) > MESSAGE_LIMIT_BYTES:
            return
