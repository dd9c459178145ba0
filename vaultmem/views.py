"""What the engine answers with: values that surfaces render and decide nothing about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from vaultmem.events import WatcherMode
from vaultmem.notes.metadata import Status, WithMetadata

if TYPE_CHECKING:
    from vaultmem.notes.diagnostics import Diagnostic
    from vaultmem.notes.problems import Code

Json: TypeAlias = dict[str, Any]
"""One of these values as a JSON object: how it is printed, kept or sent."""


@dataclass(frozen=True, slots=True)
class NoteView(WithMetadata):
    """One note as the catalog knows it."""

    path: str
    """Relative to the memory root, with `/`."""
    admitted: bool
    """It may be hinted."""
    indexed: bool
    """It has a usable id that no other note has, so it can be opened by it."""
    diagnostics: tuple[Code, ...]
    size: int
    mtime_ns: int
    is_pending: bool
    """Its newest text has no vectors yet."""

    @property
    def in_conflict(self) -> bool:
        """Another note carries the same id."""
        return "conflict_id" in self.diagnostics


@dataclass(frozen=True, slots=True)
class OpenedMemory(WithMetadata):
    """A note read from disk. `text` is the whole file, `body` what follows its block; line ends as on disk."""

    path: str
    body: str
    text: str
    digest: str
    """Hex of BLAKE2b-128 of the file's bytes."""


@dataclass(frozen=True, slots=True)
class NoteCopy:
    """One of several notes with the same id."""

    path: str
    mtime: datetime
    size: int
    looks_like_sync_copy: bool


@dataclass(frozen=True, slots=True)
class SearchMatch:
    """One matching line. `id` is None when the note has no usable id (only with `include_all`)."""

    id: str | None
    path: str
    line: int
    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The matches of a text search, and what the search could not look at."""

    matches: tuple[SearchMatch, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edited:
    """What an edit changed, or with `dry_run` would change. `diff` is a unified diff, empty when nothing differs."""

    path: str
    id: str | None
    tags: tuple[str, ...]
    status: Status
    changed: bool
    diff: str
    before: bytes = field(repr=False)
    after: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Saved:
    """A memory that was saved; `similar` are ids of existing memories that say nearly the same."""

    memory: OpenedMemory
    created: bool
    diff: str
    similar: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trashed:
    """A note that was moved to the vault's `.trash`; `trashed_to` is an absolute path."""

    path: str
    trashed_to: str


@dataclass(frozen=True, slots=True)
class Freshness:
    """How current the answers are."""

    scanned_at: datetime | None
    stale_notes: int
    """Notes that differ on disk and that this process may not sync itself."""
    writer_pid: int | None
    """The live process that holds the writer's lock, this one included."""

    def age_s(self, now: datetime) -> float | None:
        """Seconds since the last full scan, or None when there was none."""
        return None if self.scanned_at is None else (now - self.scanned_at).total_seconds()


@dataclass(frozen=True, slots=True)
class LexicalStatus:
    """The lexical store: live documents and bytes on disk."""

    documents: int
    bytes: int


@dataclass(frozen=True, slots=True)
class DenseStatus:
    """The dense store: which engine and model, embedded chunks, notes whose vectors are pending."""

    engine: str
    model: str | None
    chunks: int
    pending: int
    bytes: int
    note: str = ""
    """Why there is no engine, or what it waits for; empty when all is well."""


@dataclass(frozen=True, slots=True)
class WriterStatus:
    """Who writes the stores."""

    pid: int | None
    alive: bool


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """What the caches hold and who writes: the keys of `status --json`."""

    root: str
    state_dir: str
    state: str
    """`idle`, `scanning`, `indexing`, `embedding`, `degraded`, `never_synced` or `root_missing`."""
    notes: int
    admitted: int
    deprecated: int
    conflicts: int
    diagnostics: Mapping[str, int]
    lexical: LexicalStatus
    dense: DenseStatus
    writer: WriterStatus
    last_scan_at: datetime | None
    watcher: WatcherMode
    message: str = ""
    """What is wrong and what to do, when the state is not a healthy one."""
    embedded: int | None = None
    """While embedding: notes done, of `to_embed`; `seconds_left` is an estimate."""
    to_embed: int | None = None
    seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One check of doctor."""

    name: str
    ok: bool
    detail: str
    is_of_caches: bool = True
    """It tells whether the caches agree with the notes, and not whether all around them is well."""


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """Health of the notes and integrity of the caches."""

    healthy: bool
    """Every check holds and no diagnostic is worse than info."""
    checks: tuple[Check, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def caches_agree(self) -> bool:
        """Every check of the caches holds."""
        return all(check.ok for check in self.checks if check.is_of_caches)
