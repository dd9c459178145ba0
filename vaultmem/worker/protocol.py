"""The worker's protocol: one JSON object per line each way, and the address under which a worker is found.

    request   {"v": 1, "method": "recall", "params": {…}, "token": "…" where the socket is TCP}
    answer    {"v": 1, "result": …}   or   {"v": 1, "error": {"type", "message", "advice", "paths", "pid"}}

A connection may carry several requests, one after the other. Everything here is text in, value out, but for
the address file. Hooks import this module on every prompt: standard library only, and little of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultmem import errors
from vaultmem.errors import EngineError, VaultmemError
from vaultmem.worker.address import ADDRESS_PROTOCOL, address_name, find_address

if TYPE_CHECKING:
    from vaultmem.recall.answer import Recall
    from vaultmem.views import NoteCopy, OpenedMemory, Saved, SearchResult

PROTOCOL = ADDRESS_PROTOCOL
MESSAGE_LIMIT_BYTES = 8 << 20
"""A longer message ends its connection; a body of a MiB, escaped, stays well under it."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Address:
    """Where a worker listens: a Unix socket, or a port of this machine with a token."""

    pid: int
    root: str
    state_dir: str
    is_default_state_dir: bool = True
    """A client that names no state dir means the default one."""
    socket: str | None = None
    port: int | None = None
    token: str | None = None


# --- messages -------------------------------------------------------------------------------------------


def encode(message: Json) -> bytes:
    """One line, line end included. Lone surrogates survive as `\\ud800` escapes."""
    return json.dumps({"v": PROTOCOL, **message}, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Json:
    """The message of a line.

    Raises:
        EngineError: it is no message of this protocol.
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise EngineError("a message between worker and client was damaged") from None
    if not isinstance(message, dict) or message.get("v") != PROTOCOL:
        raise EngineError(
            "worker and client speak different protocols",
            advice="Restart `vaultmem watch` after an update.",
        )
    return message


def plain(value: object) -> Any:
    """A value made of dataclasses, enums, tuples and the like as what JSON can say."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(each) for each in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def plain_error(error: VaultmemError) -> Json:
    """An exception as it travels."""
    detail = {name: plain(getattr(error, name)) for name in ("paths", "pid") if hasattr(error, name)}
    return {"type": type(error).__name__, "message": str(error), "advice": error.advice, **detail}


def read_error(data: Json) -> VaultmemError:
    """The exception that travelled; one of an unknown type comes back as an EngineError."""
    kind = getattr(errors, str(data.get("type")), EngineError)
    message, advice = str(data.get("message", "")), str(data.get("advice", ""))
    if kind is errors.ConflictError:
        return errors.ConflictError(message, paths=tuple(data.get("paths") or ()), advice=advice)
    if kind is errors.WriterBusyError:
        return errors.WriterBusyError(message, pid=data.get("pid"), advice=advice)
    if isinstance(kind, type) and issubclass(kind, VaultmemError):
        return kind(message, advice=advice)
    return EngineError(message, advice=advice)


# --- values ---------------------------------------------------------------------------------------------


def read_recall(data: Json) -> Recall:
    """The answer to a query, as the engine gave it."""
    from vaultmem.recall.answer import Candidate, Hint, Mode, Recall
    from vaultmem.recall.scoring import ChunkSignal, Signals, Verdict

    def signals(part: Json) -> Signals:
        chunks = tuple(ChunkSignal(**chunk) for chunk in part["chunks"])
        return Signals(**{**part, "chunks": chunks, "terms": tuple(part["terms"])})

    candidates = tuple(
        Candidate(**{**each, "verdict": Verdict(each["verdict"]), "signals": signals(each["signals"])})
        for each in data["candidates"]
    )
    hints = tuple(Hint(**each) for each in data["hints"])
    return Recall(**{**data, "hints": hints, "candidates": candidates, "mode": Mode(data["mode"])})


def read_search(data: Json) -> SearchResult:
    """The matches of a text search."""
    from vaultmem.views import SearchMatch, SearchResult

    matches = tuple(
        SearchMatch(**{**each, "before": tuple(each["before"]), "after": tuple(each["after"])})
        for each in data["matches"]
    )
    return SearchResult(matches, tuple(data["warnings"]))


def read_memory(data: Json) -> OpenedMemory:
    """A note read from disk."""
    from vaultmem.notes.metadata import Metadata
    from vaultmem.views import OpenedMemory

    return OpenedMemory(**{**data, "metadata": Metadata.of_plain(data["metadata"])})


def read_saved(data: Json) -> Saved:
    """A memory that was saved."""
    from vaultmem.views import Saved

    return Saved(
        **{**data, "memory": read_memory(data["memory"]), "similar": tuple(data["similar"])},
    )


def read_copies(data: list[Json]) -> tuple[NoteCopy, ...]:
    """The notes that carry one id."""
    from datetime import datetime

    from vaultmem.views import NoteCopy

    return tuple(NoteCopy(**{**each, "mtime": datetime.fromisoformat(each["mtime"])}) for each in data)


# --- the address ----------------------------------------------------------------------------------------


def write_address(folder: str, address: Address) -> None:
    """Tell clients where the worker listens; readable by the user alone. Raises OSError."""
    from vaultmem.files import atomic  # clients, and so hooks, never write it

    target = Path(folder, address_name(address.root))
    atomic.write(target, encode(plain(address)), mode=0o600, is_durable=False)


def read_address(root: str) -> Address | None:
    """Where the last worker of this memory root said it listens, or None. It may be dead by now."""
    data = find_address(root)
    return _address_of({key: value for key, value in data.items() if key != "v"}) if data else None


def _address_of(data: Json) -> Address | None:
    """The address that a file holds, or None: whatever stands there, a client can always work alone."""
    try:
        address = Address(**data)
    except TypeError:  # a field is missing, or unknown
        return None
    texts = (address.root, address.state_dir, address.socket or "", address.token or "")
    are_right = (
        type(address.pid) is int
        and type(address.is_default_state_dir) is bool
        and all(isinstance(text, str) and _is_utf8(text) for text in texts)
        and (bool(address.socket) or _is_port(address.port))
    )
    return address if are_right else None


def _is_port(value: object) -> bool:
    return type(value) is int and 0 < value < 1 << 16


def _is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def remove_address(folder: str, root: str, pid: int) -> None:
    """Take the address back, if it is still the one of this process."""
    address = read_address(root)
    if address is not None and address.pid == pid:
        Path(folder, address_name(root)).unlink(missing_ok=True)
