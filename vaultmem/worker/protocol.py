"""The worker's protocol: one JSON object per line each way.

    request   {"v": 2, "method": "recall", "params": {…}}
    answer    {"v": 2, "result": …}   or   {"v": 2, "error": {"type", "message", "advice", "paths", "pid"}}

A connection may carry several requests, one after the other. Pure: text in, value out. Standard library only: a
client is loaded for a single answer.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from vaultmem import errors
from vaultmem.errors import EngineError, VaultmemError
from vaultmem.worker.address import PROTOCOL

if TYPE_CHECKING:
    from vaultmem.recall.answer import Recall
    from vaultmem.views import Json, NoteCopy, OpenedMemory, Saved, SearchResult

MESSAGE_LIMIT_BYTES = 8 << 20
"""A longer message ends its connection; a body of a MiB, escaped, stays well under it."""

_SAYABLE = (str, float, int, bool)

# --- messages


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
    kind: type = type(value)
    if value is None or kind in _SAYABLE:
        return value
    if (names := _field_names(kind)) is not None:
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(each) for each in value]
    return value if isinstance(value, _SAYABLE) else str(value)


@functools.cache
def _field_names(kind: type) -> tuple[str, ...] | None:
    """Of a dataclass, else None. Found out once a type: an answer holds thousands of values of a few types."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


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


# --- values


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
