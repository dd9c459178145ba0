"""An engine made of values, and a worker that serves it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vaultmem.config import Config
from vaultmem.errors import ConflictError, EngineError, NoteNotFoundError, UsageError, WriterBusyError
from vaultmem.notes.metadata import Metadata, Status
from vaultmem.recall.answer import Candidate, Hint, Mode, Recall
from vaultmem.recall.scoring import ChunkSignal, Signals, Verdict
from vaultmem.views import NoteCopy, OpenedMemory, Saved, SearchMatch, SearchResult
from vaultmem.worker.server import Worker

MEMORY = OpenedMemory(
    Metadata("mem_1", "名 A", "desc", ("a", "b"), Status.DEPRECATED, "2026-05-01", "2026-05-02"),
    "2026/05/a.md",
    "body \ud800",
    "text",
    "d1",
)


SIGNALS = Signals(
    0.5, 0.4, 0.6, None, {"project": 0.05}, (ChunkSignal("t", "H › I", 3, 9, 0.4, 1.0),), ("t",)
)


RECALL = Recall(
    "q",
    (Hint("mem_1", 0.61, "名 A", "desc", "2026/05/a.md"),),
    (
        Candidate("mem_1", 0.61, Verdict.HINTED, SIGNALS, "2026/05/a.md", "名 A", "desc", 1),
        Candidate("mem_2", 0.41, Verdict.BELOW_THRESHOLD, Signals(bm25=0.4), "b.md", "B", "d", 2),
    ),
    Mode.HYBRID,
)


class FakeEngine:
    def __init__(self, root: Path, state_dir: Path) -> None:
        self.config = Config(root, state_dir)
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.hold = threading.Event()
        self.hold.set()
        self.is_warm = threading.Event()
        self.warm_up_error: EngineError | None = None

    def recall(self, query: str, **options: Any) -> Recall:
        if query == "warm up":
            self.is_warm.set()
            if self.warm_up_error is not None:
                raise self.warm_up_error
            return Recall(query)
        self.hold.wait(10)
        self.calls.append((query, options))
        if query == "crash":
            raise ZeroDivisionError("secret text")
        return RECALL

    def search(self, pattern: str, **options: Any) -> SearchResult:
        if pattern == "(":
            raise UsageError("not a pattern", advice="escape it")
        return SearchResult(
            (SearchMatch("mem_1", "a.md", 3, "line", ("b",), ()),), ("one file was unreadable",)
        )

    def open_memory(self, key: str) -> OpenedMemory:
        if key == "twice":
            raise ConflictError("two notes", paths=("a.md", "b.md"), advice="choose")
        if key != "mem_1":
            raise NoteNotFoundError(f"no note has the id {key}")
        return MEMORY

    def copies(self, key: str) -> tuple[NoteCopy, ...]:
        return (NoteCopy("a.md", datetime(2026, 5, 1, tzinfo=UTC), 10, looks_like_sync_copy=False),)

    def save(self, **fields: Any) -> Saved:
        if fields.get("name") == "busy":
            raise WriterBusyError("busy", pid=42)
        return Saved(MEMORY, True, "--- diff", ("mem_2",))


def serving(engine: FakeEngine, answer_hook: Callable[[str, str], str] = lambda client, text: "") -> Worker:
    return Worker(engine, answer_hook)  # type: ignore[arg-type]
