"""The worker's socket: a warm engine for hooks, `recall` and MCP servers of this user, on this machine only.

A Unix socket in a folder that is the user's alone, and a peer of another user is turned away.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from vaultmem.embedding.cores import settle_garbage_collector
from vaultmem.errors import EngineError, UsageError, VaultmemError
from vaultmem.recall.answer import clues
from vaultmem.worker.address import (
    LONGEST_FOLDER,
    Address,
    address_name,
    find_address,
    is_private,
    remove_address,
    runtime_folders,
    write_address,
)
from vaultmem.worker.client import connected, is_same_user, lines_of
from vaultmem.worker.protocol import (
    decode,
    encode,
    plain,
    plain_error,
)

if TYPE_CHECKING:
    from vaultmem.engine.engine import Engine
    from vaultmem.views import Json

IDLE_TIMEOUT_S = 60.0
"""A connection that says nothing for so long is closed."""
LOOK_EVERY_S = 0.5
"""How often the worker looks whether it can still be found: cleaners of temporary folders know no workers."""
MOST_CONNECTIONS = 64

_log = logging.getLogger("vaultmem")

AnswerHook: TypeAlias = Callable[[str, str], str]
"""Client and text of an event → what its hook prints. Never raises."""


class Worker:
    """Serves an open engine to local clients until `close`; as a context manager, in a thread of its own.

    Hooks are answered by `answer_hook`: their rules are none of the worker's.
    """

    def __init__(self, engine: Engine, answer_hook: AnswerHook) -> None:
        self._engine = engine
        self._answer_hook = answer_hook
        self._is_hidden = False
        self._places = threading.Semaphore(MOST_CONNECTIONS)
        self._closing = threading.Event()
        self._connections: set[socket.socket] = set()
        self._moving = threading.Lock()
        self._listener, self._address = self._listen()
        self._accepting = threading.Thread(target=self._accept_all, name="vaultmem-worker", daemon=True)
        self._socket_file = _identity(self._address)

    @property
    def address(self) -> Address:
        """Where clients find it."""
        return self._address

    def _warm_up(self) -> None:
        try:
            self._engine.recall("warm up", limit=0)
        except VaultmemError as error:
            if not self._closing.is_set():
                _log.warning("the worker could not warm up: %s", error)
        settle_garbage_collector()

    def _accept_all(self) -> None:
        look_at = time.monotonic() + LOOK_EVERY_S
        while not self._closing.is_set():
            if time.monotonic() >= look_at:
                self._stay_reachable()
                look_at = time.monotonic() + LOOK_EVERY_S
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                if self._closing.is_set():
                    break
                time.sleep(0.05)  # out of file descriptors, for a moment
                continue
            self._admit(connection)

    def _stay_reachable(self) -> None:
        """Listen and announce anew when the socket's file or the address was taken away. Never raises."""
        with self._moving:
            if self._closing.is_set():
                return
            try:
                if _identity(self._address) != self._socket_file:
                    self._listener.close()
                    self._remove_socket(Path(self._address.socket))
                    self._listener, self._address = self._listen()
                    self._socket_file = _identity(self._address)
                if not self._is_announced():
                    write_address(self._folder, self._address)
            except (OSError, EngineError) as error:
                if not self._is_hidden:
                    _log.warning("the worker cannot be found any more: %s", error)
                self._is_hidden = True
            else:
                self._is_hidden = False

    def _is_announced(self) -> bool:
        """Clients find this worker, or another one of this root that is alive: the last to come is asked."""
        found = find_address(self._address.root)
        if found is None or found == self._address:
            return found is not None
        if found.pid == self._address.pid:
            return False  # from before the move
        try:
            with connected(found):
                return True
        except OSError:
            return False

    def start(self) -> None:
        """Serve in a thread of its own; the address can be found when this returns, or it is tried again and again."""
        try:
            write_address(self._folder, self._address)
        except OSError as error:  # a full disk: it may have room later
            _log.warning("the worker cannot be found yet: %s", error)
            self._is_hidden = True
        threading.Thread(target=self._warm_up, daemon=True).start()
        self._accepting.start()

    def close(self) -> None:
        """Stop serving and take the address back. What is being answered is cut off."""
        with self._moving:
            self._closing.set()
        with contextlib.suppress(OSError):
            remove_address(self._folder, self._address.root, os.getpid())
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # closing alone does not wake who waits in accept()
        self._listener.close()
        if self._accepting.is_alive():
            self._accepting.join(timeout=2 * LOOK_EVERY_S)
        self._remove_socket(Path(self._address.socket))
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _remove_socket(self, path: Path) -> None:
        """Take a socket away, and its folder where that was made for it alone."""
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
            if str(path.parent) != self._folder:
                path.parent.rmdir()

    def __enter__(self) -> Worker:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _listen(self) -> tuple[socket.socket, Address]:
        from vaultmem.config import default_state_dir

        self._folder = runtime_folder()
        config = self._engine.config
        is_default = config.state_dir == default_state_dir(config.root)
        prefix = f"{address_name(str(config.root))[:8]}-"
        _sweep(Path(self._folder), prefix)
        path = Path(socket_folder(self._folder), f"{prefix}{os.getpid()}.sock")
        address = Address(os.getpid(), str(config.root), str(config.state_dir), is_default, str(path))
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.settimeout(LOOK_EVERY_S)  # a closed listener does not wake accept() everywhere
            listener.bind(str(path))
            path.chmod(0o600)
            listener.listen(MOST_CONNECTIONS)
        except OSError:
            listener.close()
            self._remove_socket(path)
            raise
        return listener, address

    def _admit(self, connection: socket.socket) -> None:
        if not is_same_user(connection) or not self._places.acquire(blocking=False):
            connection.close()
            return
        self._connections.add(connection)
        threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(IDLE_TIMEOUT_S)
            for line in lines_of(connection):
                connection.sendall(self._answer(line))
        except OSError:
            pass  # the client went away, or said nothing for too long
        finally:
            self._connections.discard(connection)
            connection.close()
            self._places.release()

    def _answer(self, line: bytes) -> bytes:
        """Never raises: a request that fails is answered with its error, and the worker lives on."""
        try:
            request = decode(line)
            params = request.get("params", {})
            if request.get("method") == "hook":
                return encode({"result": self._answer_hook(params["client"], params["text"])})
            method = _METHODS.get(str(request.get("method")))
            if method is None:
                raise UsageError(f"the worker has no method {request.get('method')!r}")
            return encode({"result": plain(method(self._engine, **params))})
        except VaultmemError as error:
            return encode({"error": plain_error(error)})
        except Exception as error:  # the client is told no more than the type: the rest may quote notes
            _log.exception("the worker failed to answer")
            return encode({"error": plain_error(EngineError(f"the worker failed: {type(error).__name__}"))})


def _identity(address: Address) -> tuple[int, int] | None:
    """Which file lies at the socket's path; None for none."""
    try:
        status = os.lstat(address.socket)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _sweep(folder: Path, prefix: str) -> None:
    """Remove the sockets of workers that were killed; nobody can listen on them any more."""
    for path in folder.glob(f"{prefix}*.sock"):
        probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            probe.settimeout(0.2)
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
        except OSError:
            pass
        finally:
            probe.close()


def _clues(engine: Engine, query: str, **options: Any) -> Json:
    return {"clues": clues(engine.recall(query, **options).candidates)}


_METHODS: dict[str, Callable[..., object]] = {
    "clues": _clues,
    "recall": lambda engine, query, **options: engine.recall(query, **options),
    "search": lambda engine, pattern, **options: engine.search(pattern, **options),
    "open": lambda engine, key: engine.open_memory(key),
    "copies": lambda engine, key: engine.copies(key),
    "save": lambda engine, **fields: engine.save(**fields),
}


def runtime_folder() -> str:
    """A folder for addresses that belongs to this user alone, in the first place where one can be had; made if missing.

    Raises:
        EngineError: everywhere lies what belongs to somebody else, is open to others or cannot be written.
    """
    places = list(dict.fromkeys(runtime_folders()))
    for folder in places:
        with contextlib.suppress(OSError):
            Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_private(folder) and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise EngineError(
        f"none of these is a folder of this user alone that can be written: {', '.join(places)}",
        advice="Set XDG_RUNTIME_DIR to a private folder.",
    )


def socket_folder(folder: str) -> str:
    """Where the sockets of a folder of addresses lie: there, or in a new one where its path is too long for them."""
    if len(os.fsencode(folder)) <= LONGEST_FOLDER:
        return folder
    import tempfile

    return tempfile.mkdtemp(prefix="vaultmem-", dir="/tmp")
