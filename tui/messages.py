"""What widgets and workers tell each other: requests go up to the app, answers of the engine come down as values.

Requests (a person wants something) are named as verbs, answers in the past tense.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from tui.models.history import Change
    from tui.models.preview import Settings
    from tui.models.shelf import Shelf
    from vaultmem import Engine
    from vaultmem.events import Event
    from vaultmem.notes.diagnostics import Diagnostic
    from vaultmem.recall.answer import Recall
    from vaultmem.views import DoctorReport, Edited, EngineStatus, Freshness, NoteCopy, OpenedMemory


# --- answers of the engine ------------------------------------------------------------------------------


@dataclass(eq=False)
class EngineOpened(Message):
    """The engine works."""

    engine: Engine


@dataclass(eq=False)
class EngineNotOpened(Message):
    """The engine could not be opened."""

    message: str
    advice: str


@dataclass(eq=False)
class EngineTold(Message):
    """Events that the engine told since the last time, oldest first."""

    events: tuple[Event, ...]


@dataclass(eq=False)
class ActivityRead(Message):
    """What the engine told before the dashboard was opened, oldest first."""

    events: tuple[Event, ...]


@dataclass(eq=False)
class CallFailed(Message):
    """A call of the engine failed; `what` says what was being done."""

    what: str
    message: str
    advice: str


@dataclass(eq=False)
class StatusRead(Message):
    """The engine's status."""

    status: EngineStatus


@dataclass(eq=False)
class FreshnessRead(Message):
    """How fresh the engine's answers are, and whether this process writes."""

    freshness: Freshness
    is_writer: bool


@dataclass(eq=False)
class FreshnessUnknown(Message):
    """How fresh the answers are cannot be said at the moment."""

    reason: str


@dataclass(eq=False)
class NotesRead(Message):
    """All notes."""

    shelf: Shelf


@dataclass(eq=False)
class DiagnosticsRead(Message):
    """All diagnostics."""

    diagnostics: tuple[Diagnostic, ...]


@dataclass(eq=False)
class NoteRead(Message):
    """One note's text, as it is on disk."""

    note: OpenedMemory


@dataclass(eq=False)
class NoteNotRead(Message):
    """One note could not be read; `message` says why."""

    path: str
    message: str


@dataclass(eq=False)
class Recalled(Message):
    """The answer to a prompt under these settings. `seconds` is what the engine took."""

    recall: Recall
    settings: Settings
    seconds: float


@dataclass(eq=False)
class RecallFailed(Message):
    """A prompt could not be answered."""

    message: str
    advice: str


@dataclass(eq=False)
class CopiesRead(Message):
    """The notes that share one id."""

    copies: tuple[NoteCopy, ...]


@dataclass(eq=False)
class EditsPlanned(Message):
    """What edits would change, and why some are refused (path → reason). `number` tells plans apart."""

    edits: tuple[Edited, ...]
    refusals: Mapping[str, str]
    number: int


@dataclass(eq=False)
class EditsWritten(Message):
    """The edits that were written as they had been planned, and why the others were not (path → reason)."""

    edits: tuple[Edited, ...]
    refusals: Mapping[str, str]


@dataclass(eq=False)
class Changed(Message):
    """Notes were changed; `refusals` are those that were not, with the reason."""

    change: Change
    refusals: Mapping[str, str]


@dataclass(eq=False)
class Undone(Message):
    """A change was taken back, as far as `change` says; `refusals` as in `Changed`."""

    change: Change
    refusals: Mapping[str, str]


@dataclass(eq=False)
class Redone(Message):
    """A change was done again, as far as `change` says; `refusals` as in `Changed`."""

    change: Change
    refusals: Mapping[str, str]


@dataclass(eq=False)
class SuggestionRead(Message):
    """A description made from the body's first sentence; empty when there is none."""

    path: str
    text: str


@dataclass(eq=False)
class Doctored(Message):
    """The caches were checked against the notes."""

    report: DoctorReport


@dataclass(eq=False)
class SyncAsked(Message):
    """A sync that a person asked for has ended."""

    changed: int


# --- requests of a person -------------------------------------------------------------------------------


@dataclass(eq=False)
class EditTags(Message):
    """Open the tag editor for these notes."""

    paths: Sequence[str]


@dataclass(eq=False)
class WriteDescription(Message):
    """Open the description editor for this note."""

    path: str


@dataclass(eq=False)
class Adopt(Message):
    """Give each of these notes a fresh id."""

    paths: Sequence[str]


@dataclass(eq=False)
class MoveToTrash(Message):
    """Move these notes to the vault's `.trash`, after asking."""

    paths: Sequence[str]
    reason: str = ""


@dataclass(eq=False)
class ResolveConflict(Message):
    """Show the notes that share this id beside each other."""

    id: str


@dataclass(eq=False)
class OpenInEditor(Message):
    """Open this note in `$EDITOR`, at a line when there is one."""

    path: str
    line: int | None = None


@dataclass(eq=False)
class OpenInObsidian(Message):
    """Open this note in Obsidian."""

    path: str


@dataclass(eq=False)
class Copy(Message):
    """Put this text on the clipboard; `what` names it."""

    text: str
    what: str


@dataclass(eq=False)
class ShowNote(Message):
    """Go to this note in Memories."""

    path: str


@dataclass(eq=False)
class ShowDiagnostics(Message):
    """Go to Diagnostics, showing one severity ("" for all) and what matches a text."""

    severity: str = ""
    text: str = ""


@dataclass(eq=False)
class ShowTag(Message):
    """Go to Memories, showing the notes with this tag."""

    tag: str


@dataclass(eq=False)
class SetStatus(Message):
    """Write this status into these notes."""

    paths: Sequence[str]
    status: str


@dataclass(eq=False)
class TextsRead(Message):
    """Several notes' texts, by path; those that cannot be read are missing."""

    notes: Mapping[str, OpenedMemory]
