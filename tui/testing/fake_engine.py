"""A fake engine for tests and screenshots: notes in a dict, the real rules for reading and editing, no disk, no clock.

It keeps the promises of `vaultmem.Engine` as far as the dashboard uses it; `failing` makes single calls fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta

from tui.testing.fake_recall import recalled
from tui.testing.notes import NOW
from vaultmem.config import DESCRIPTION_WIDTH
from vaultmem.editing import changes, edits
from vaultmem.errors import ConcurrentChangeError, NoteNotFoundError, RefusedError
from vaultmem.events import Event, NoteEdited, SyncFinished, SyncReport, WatcherMode
from vaultmem.notes.diagnostics import Diagnostic, diagnose
from vaultmem.notes.metadata import Status
from vaultmem.notes.names import new_id, sync_copy_of
from vaultmem.notes.parse import Note, parse_note
from vaultmem.notes.tags import normalise_tag
from vaultmem.recall.answer import Recall
from vaultmem.views import (
    Check,
    DenseStatus,
    DoctorReport,
    Edited,
    EngineStatus,
    Freshness,
    LexicalStatus,
    NoteCopy,
    NoteView,
    OpenedMemory,
    Trashed,
    WriterStatus,
)


class FakeEngine:
    """Notes in memory. `put` and `remove` stand for changes outside, `tell` for what the engine's threads say."""

    def __init__(self, files: Mapping[str, bytes] | None = None, *, is_writer: bool = True) -> None:
        self.files: dict[str, bytes] = dict(files or {})
        self.trashed: dict[str, bytes] = {}
        self.failing: dict[str, Exception] = {}
        self.calls: list[str] = []
        self.is_writer = is_writer
        self.stale_notes = 0
        self.state = "idle"
        self.message = ""
        self.past: list[Event] = []
        self._subscribers: list[Callable[[Event], None]] = []

    # --- what happens outside

    def put(self, path: str, data: bytes) -> None:
        """A note was written by somebody else."""
        is_new = path not in self.files
        self.files[path] = data
        self._synced(added=is_new, updated=not is_new, path=path)

    def remove(self, path: str) -> None:
        """A note was deleted by somebody else."""
        del self.files[path]
        self._synced(deleted=True, path=path)

    def _synced(
        self, *, path: str, added: bool = False, updated: bool = False, deleted: bool = False
    ) -> None:
        report = SyncReport(
            scanned=len(self.files),
            added=int(added),
            updated=int(updated),
            deleted=int(deleted),
            paths=(path,),
        )
        self.tell(SyncFinished(NOW + timedelta(seconds=len(self.past)), report))

    def tell(self, event: Event) -> None:
        """Tell every subscriber."""
        self.past.append(event)
        for callback in self._subscribers:
            callback(event)

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call back with every event."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback)

    def close(self) -> None:
        """Nothing to let go of."""

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if error := self.failing.get(name):
            raise error

    # --- asking

    @property
    def freshness(self) -> Freshness:
        """Three seconds old."""
        self._called("freshness")
        return Freshness(NOW - timedelta(seconds=3), self.stale_notes, 1 if self.is_writer else 4242)

    def status(self) -> EngineStatus:
        """Counts of the notes, invented sizes."""
        self._called("status")
        notes = self._views()
        return EngineStatus(
            root="/home/mei/Vault/March Memories",
            state_dir="/home/mei/.local/state/vaultmem/march-memories",
            state=self.state,
            notes=len(notes),
            admitted=sum(note.admitted for note in notes),
            deprecated=sum(note.status is Status.DEPRECATED for note in notes),
            conflicts=len({note.id for note in notes if note.in_conflict}),
            diagnostics=Counter(str(each.code) for each in self._diagnostics()),
            lexical=LexicalStatus(len(notes), 48_000 + 900 * len(notes)),
            dense=DenseStatus("bundled", "multilingual-e5-small", 4 * len(notes), 0, 8_200 * len(notes)),
            writer=WriterStatus(1 if self.is_writer else 4242, True),
            last_scan_at=NOW,
            watcher=WatcherMode.NATIVE,
            message=self.message,
        )

    def notes(self) -> tuple[NoteView, ...]:
        """All notes, by path."""
        self._called("notes")
        return self._views()

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with them."""
        self._called("diagnostics")
        return self._diagnostics()

    def tags(self) -> Mapping[str, int]:
        """Tags by use."""
        self._called("tags")
        return Counter(tag for note in self._parsed().values() for tag in note.tags)

    def activity(self) -> tuple[Event, ...]:
        """What was told so far."""
        self._called("activity")
        return tuple(self.past)

    def read_note(self, path: str) -> OpenedMemory:
        """A note's text."""
        self._called("read_note")
        note, data = parse_note(path, self._data(path)), self._data(path)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise RefusedError(f"{path} is not UTF-8 (byte {error.start})") from None
        return OpenedMemory(note.metadata, path, note.body, text, note.digest)

    def copies(self, id: str) -> tuple[NoteCopy, ...]:
        """The notes with this id."""
        self._called("copies")
        paths = [path for path, note in sorted(self._parsed().items()) if note.id == id]
        siblings = [path.rpartition("/")[2] for path in paths]
        return tuple(
            NoteCopy(
                path,
                NOW - timedelta(hours=at),
                len(self.files[path]),
                sync_copy_of(path, siblings) is not None,
            )
            for at, path in enumerate(paths)
        )

    def suggest_description(self, path: str) -> str:
        """The first sentence of the body."""
        self._called("suggest_description")
        return changes.suggested_description(parse_note(path, self._data(path)), DESCRIPTION_WIDTH)

    def sync(self, **_: object) -> SyncReport:
        """Nothing to find."""
        self._called("sync")
        return SyncReport(scanned=len(self.files))

    def doctor(self, **_: object) -> DoctorReport:
        """All is well."""
        self._called("doctor")
        return DoctorReport(True, (Check("lexical store", True, "holds every note once"),), ())

    def recall(
        self,
        query: str,
        *,
        limit: int = 3,
        min_score: float = 0.5,
        project: str | None = None,
        suppressed: Collection[str] = (),
    ) -> Recall:
        """The notes that share words with the query."""
        self._called("recall")
        return recalled(
            query, self._parsed().values(), limit=limit, min_score=min_score, suppressed=suppressed
        )

    # --- editing

    def edit_tags(
        self,
        id: str | None,
        *,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        set: Iterable[str] | None = None,
        path: str | None = None,
        dry_run: bool = False,
    ) -> Edited:
        """Change the tags."""
        self._called("edit_tags")
        return self._edit(path or "", changes.tags_change(add, remove, set), "tags", dry_run)

    def edit_description(
        self, id: str | None, text: str, *, path: str | None = None, dry_run: bool = False
    ) -> Edited:
        """Change the description."""
        self._called("edit_description")
        return self._edit(path or "", changes.description_change(text), "description", dry_run)

    def set_status(
        self, id: str | None, status: Status, *, path: str | None = None, dry_run: bool = False
    ) -> Edited:
        """Change the status."""
        self._called("set_status")
        return self._edit(path or "", changes.status_change(status), "status", dry_run)

    def adopt(self, path: str, *, dry_run: bool = False) -> Edited:
        """Give a fresh id."""
        self._called("adopt")

        def change(note: Note, before: bytes) -> bytes:
            return edits.set_id(before, new_id(note.name, NOW))

        return self._edit(path, change, "id", dry_run)

    def rename_tag(self, old: str, new: str, *, dry_run: bool = False) -> tuple[Edited, ...]:
        """Rename a tag and its children."""
        self._called("rename_tag")
        source, target = normalise_tag(old), normalise_tag(new)
        renamed = {
            path: changes.renamed_tags(note.tags, source, target)
            for path, note in sorted(self._parsed().items())
        }
        return tuple(
            self._edit(path, changes.tags_change((), (), tags), "tags", dry_run)
            for path, tags in renamed.items()
            if tags != self._parsed()[path].tags
        )

    def apply(self, edited: Edited, what: str) -> None:
        """Write what was shown."""
        self._called("apply")
        if self._data(edited.path) != edited.before:
            raise ConcurrentChangeError(f"{edited.path} changed since", advice="Look at it first.")
        self._write(edited.path, edited.after, what)

    def undo(self, edited: Edited) -> None:
        """Put the bytes back."""
        self._called("undo")
        if self._data(edited.path) != edited.after:
            raise ConcurrentChangeError(f"{edited.path} changed since", advice="Look at it first.")
        self._write(edited.path, edited.before, "undo")

    def trash(self, path: str, *, dry_run: bool = False) -> Trashed:
        """Put a note aside."""
        self._called("trash")
        self.trashed[path] = self._data(path)
        del self.files[path]
        self.tell(NoteEdited(NOW, path, "trash"))
        return Trashed(path, f"/trash/{path}")

    def restore(self, trashed: Trashed) -> None:
        """Bring it back."""
        self._called("restore")
        self._write(trashed.path, self.trashed.pop(trashed.path), "restore")

    def _edit(self, path: str, change: Callable[[Note, bytes], bytes], what: str, dry_run: bool) -> Edited:
        edited = changes.edited(path, self._data(path), change)
        if edited.changed and not dry_run:
            self._write(path, edited.after, what)
        return edited

    def _write(self, path: str, data: bytes, what: str) -> None:
        self.files[path] = data
        self.tell(NoteEdited(NOW + timedelta(seconds=len(self.past)), path, what))

    # --- the notes

    def _data(self, path: str) -> bytes:
        if path not in self.files:
            raise NoteNotFoundError(f"no note lies at {path}", advice="It was moved or deleted outside.")
        return self.files[path]

    def _parsed(self) -> dict[str, Note]:
        return {path: parse_note(path, data) for path, data in sorted(self.files.items())}

    def _diagnosed(self) -> list[tuple[Note, tuple[str, ...], tuple[Diagnostic, ...]]]:
        """Every note with the paths of those that share its id, and what is wrong with it."""
        parsed = self._parsed()
        found = []
        for path, note in parsed.items():
            same = tuple(each for each in parsed if note.id and parsed[each].id == note.id and each != path)
            found.append((note, same, diagnose(path, note.metadata, note.problems, same)))
        return found

    def _diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(each for _, _, diagnostics in self._diagnosed() for each in diagnostics)

    def _views(self) -> tuple[NoteView, ...]:
        return tuple(
            NoteView(
                metadata=note.metadata,
                path=note.path,
                admitted=note.metadata.is_admissible and not same,
                indexed=bool(note.id) and not same,
                diagnostics=tuple(each.code for each in diagnostics),
                size=len(self.files[note.path]),
                mtime_ns=0,
                is_pending=False,
            )
            for note, same, diagnostics in self._diagnosed()
        )
