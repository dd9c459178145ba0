"""What widgets and workers tell each other: requests go up to the app, answers of the engine come down as values.

All are named in the past tense; `…Asked` is what a person asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from tui.models.history import Deed
    from tui.models.preview import Settings
    from tui.models.shelf import Shelf
    from vaultmem import Engine
    from vaultmem.events import Event
    from vaultmem.notes.diagnostics import Diagnostic
    from vaultmem.notes.metadata import Status
    from vaultmem.recall.answer import Recall
    from vaultmem.views import DoctorReport, Edited, EngineStatus, Freshness, NoteCopy, OpenedMemory


# --- answers of the engine


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
class TextsRead(Message):
    """Several notes' texts, by path; those that cannot be read are missing."""

    notes: Mapping[str, OpenedMemory]


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

    deed: Deed
    refusals: Mapping[str, str]


@dataclass(eq=False)
class Undone(Message):
    """A deed was taken back, as far as `deed` says; `refusals` as in `Changed`."""

    deed: Deed
    refusals: Mapping[str, str]


@dataclass(eq=False)
class Redone(Message):
    """A deed was done again, as far as `deed` says; `refusals` as in `Changed`."""

    deed: Deed
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
class LookFinished(Message):
    """A look at the folder that a person asked for has ended."""

    changed: int


# --- requests of a person


@dataclass(eq=False)
class EditAsked(Message):
    """A person wants something done to these notes."""

    paths: Sequence[str]


class TagsAsked(EditAsked):
    """They want to edit the tags."""


class DescriptionAsked(EditAsked):
    """They want to write the description; `paths` is one."""


class NewIdsAsked(EditAsked):
    """They want each of the notes to have a fresh id."""


@dataclass(eq=False)
class StatusAsked(EditAsked):
    """They want this status in the notes."""

    status: Status


@dataclass(eq=False)
class TrashAsked(EditAsked):
    """They want the notes in the vault's `.trash`; `reason` is shown with the question."""

    reason: str = ""


@dataclass(eq=False)
class ConflictAsked(Message):
    """A person wants to see the notes that share this id beside each other."""

    id: str


@dataclass(eq=False)
class EditorAsked(Message):
    """A person wants this note in `$EDITOR`, at a line when there is one."""

    path: str
    line: int | None = None


@dataclass(eq=False)
class ObsidianAsked(Message):
    """A person wants this note in Obsidian."""

    path: str


@dataclass(eq=False)
class CopyAsked(Message):
    """A person wants this text on the clipboard; `what` names it."""

    text: str
    what: str


@dataclass(eq=False)
class DiagnosticsAsked(Message):
    """A person wants the diagnostics of one severity ("" for all), and of what matches a text."""

    severity: str = ""
    text: str = ""


@dataclass(eq=False)
class TagAsked(Message):
    """A person wants to see the notes with this tag in Memories."""

    tag: str
