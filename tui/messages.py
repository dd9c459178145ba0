"""What widgets and workers tell each other: requests go up to the app, answers of the engine come down as values.

Requests (a person wants something) are named as verbs, answers in the past tense.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from tui.browsing import Shelf
    from tui.history import Change
    from tui.previewing import Settings
    from vaultmem import Engine
    from vaultmem.diagnostics import Diagnostic
    from vaultmem.events import Event
    from vaultmem.recall import Recall
    from vaultmem.views import DoctorReport, Edited, EngineStatus, Freshness, NoteCopy, NoteView, OpenedMemory


@dataclass(eq=False)
class Said(Message):
    """A message that is made of its fields."""

    def __post_init__(self) -> None:
        super().__init__()


# --- answers of the engine ------------------------------------------------------------------------------


@dataclass(eq=False)
class EngineOpened(Said):
    """The engine works."""

    engine: Engine


@dataclass(eq=False)
class EngineNotOpened(Said):
    """The engine could not be opened."""

    message: str
    advice: str


@dataclass(eq=False)
class EngineTold(Said):
    """Events that the engine told since the last time, oldest first."""

    events: tuple[Event, ...]


@dataclass(eq=False)
class CallFailed(Said):
    """A call of the engine failed; `what` says what was being done."""

    what: str
    message: str
    advice: str


@dataclass(eq=False)
class StatusRead(Said):
    """The engine's status."""

    status: EngineStatus


@dataclass(eq=False)
class FreshnessRead(Said):
    """How fresh the engine's answers are, and whether this process writes."""

    freshness: Freshness
    is_writer: bool


@dataclass(eq=False)
class NotesRead(Said):
    """All notes."""

    shelf: Shelf


@dataclass(eq=False)
class DiagnosticsRead(Said):
    """All diagnostics."""

    diagnostics: tuple[Diagnostic, ...]


@dataclass(eq=False)
class TagsRead(Said):
    """All tags with how often each is used."""

    tags: Mapping[str, int]


@dataclass(eq=False)
class NoteRead(Said):
    """One note's text, as it is on disk."""

    note: OpenedMemory


@dataclass(eq=False)
class NoteNotRead(Said):
    """One note could not be read; `message` says why."""

    path: str
    message: str


@dataclass(eq=False)
class Recalled(Said):
    """The answer to a prompt under these settings. `seconds` is what the engine took."""

    recall: Recall
    settings: Settings
    seconds: float


@dataclass(eq=False)
class RecallFailed(Said):
    """A prompt could not be answered."""

    message: str
    advice: str


@dataclass(eq=False)
class CopiesRead(Said):
    """The notes that share one id."""

    copies: tuple[NoteCopy, ...]


@dataclass(eq=False)
class EditsPlanned(Said):
    """What edits would change, and why some are refused (path → reason). `number` tells plans apart."""

    edits: tuple[Edited, ...]
    refusals: Mapping[str, str]
    number: int


@dataclass(eq=False)
class Changed(Said):
    """Notes were changed; `refusals` are those that were not, with the reason."""

    change: Change
    refusals: Mapping[str, str]


@dataclass(eq=False)
class Undone(Said):
    """A change was taken back, as far as `change` says; `refusals` as in `Changed`."""

    change: Change
    refusals: Mapping[str, str]


@dataclass(eq=False)
class Redone(Said):
    """A change was done again, as far as `change` says; `refusals` as in `Changed`."""

    change: Change
    refusals: Mapping[str, str]


@dataclass(eq=False)
class SuggestionRead(Said):
    """A description made from the body's first sentence; empty when there is none."""

    path: str
    text: str


@dataclass(eq=False)
class Doctored(Said):
    """The caches were checked against the notes."""

    report: DoctorReport


@dataclass(eq=False)
class SyncAsked(Said):
    """A sync that a person asked for has ended."""

    changed: int


# --- requests of a person -------------------------------------------------------------------------------


@dataclass(eq=False)
class EditTags(Said):
    """Open the tag editor for these notes."""

    paths: Sequence[str]


@dataclass(eq=False)
class WriteDescription(Said):
    """Open the description editor for this note."""

    path: str


@dataclass(eq=False)
class ToggleStatus(Said):
    """Deprecate these notes, or make them active again when all are deprecated."""

    paths: Sequence[str]


@dataclass(eq=False)
class Adopt(Said):
    """Give each of these notes a fresh id."""

    paths: Sequence[str]


@dataclass(eq=False)
class MoveToTrash(Said):
    """Move these notes to the vault's `.trash`, after asking."""

    paths: Sequence[str]
    reason: str = ""


@dataclass(eq=False)
class ResolveConflict(Said):
    """Show the notes that share this id beside each other."""

    id: str


@dataclass(eq=False)
class OpenInEditor(Said):
    """Open this note in `$EDITOR`, at a line when there is one."""

    path: str
    line: int | None = None


@dataclass(eq=False)
class OpenInObsidian(Said):
    """Open this note in Obsidian."""

    path: str


@dataclass(eq=False)
class Copy(Said):
    """Put this text on the clipboard; `what` names it."""

    text: str
    what: str


@dataclass(eq=False)
class ShowNote(Said):
    """Go to this note in Memories."""

    path: str


@dataclass(eq=False)
class ShowDiagnostics(Said):
    """Go to Diagnostics, showing one severity ("" for all)."""

    severity: str = ""


@dataclass(eq=False)
class ShowTag(Said):
    """Go to Memories, showing the notes with this tag."""

    tag: str


@dataclass(eq=False)
class SetStatus(Said):
    """Write this status into these notes."""

    paths: Sequence[str]
    status: str
