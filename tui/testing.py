"""A fake engine for tests and screenshots: notes in a dict, the real rules for reading and editing, no disk, no clock.

It keeps the promises of `vaultmem.Engine` as far as the dashboard uses it; `failing` makes single calls fail.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from textual._context import visible_screen_stack
from textual.css.query import NoMatches
from textual.widgets import Markdown

from vaultmem import authoring, edits
from vaultmem.diagnostics import Diagnostic, NoteFacts, diagnose
from vaultmem.errors import ConcurrentChangeError, EditRefusedError, NoteNotFoundError, RefusedError
from vaultmem.events import Event, NoteEdited, SyncFinished, SyncReport, WatcherMode
from vaultmem.names import sync_copy_of
from vaultmem.notes import Note, Status, new_id, normalise_tag, parse_note
from vaultmem.recall import Candidate, Hint, Mode, Recall
from vaultmem.scoring import ChunkSignal, Signals, Verdict
from vaultmem.terms import query_terms
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

if TYPE_CHECKING:
    from textual.app import App
    from textual.pilot import Pilot

NOW = datetime(2026, 5, 20, 10, 30, 0, tzinfo=UTC)


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
        return OpenedMemory(
            note.id, path, note.name, note.description, note.tags, note.status, note.body, text, note.digest
        )

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
        return authoring.suggested_description(parse_note(path, self._data(path)))

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
        """Candidates by the share of the prompt's words that they hold: invented, but it adds up."""
        self._called("recall")
        terms = query_terms(query)
        parsed = self._parsed()
        scored = [(_signals(note, terms), note) for note in parsed.values() if note.id]
        scored = sorted(
            (pair for pair in scored if pair[0].terms), key=lambda pair: (-pair[0].score, pair[1].path)
        )
        candidates = []
        free = limit
        for key, (signals, note) in enumerate(scored):
            verdict = self._verdict(note, signals.score, min_score, suppressed, free)
            free -= verdict is Verdict.HINTED
            candidates.append(
                Candidate(
                    note.id or "",
                    signals.score,
                    verdict,
                    signals,
                    note.path,
                    note.name,
                    note.description,
                    key,
                )
            )
        hints = tuple(
            Hint(each.id, each.score, each.name, each.description, each.path)
            for each in candidates
            if each.verdict is Verdict.HINTED
        )
        return Recall(query, hints, tuple(candidates), Mode.HYBRID if candidates else Mode.NONE)

    def _verdict(
        self, note: Note, score: float, min_score: float, suppressed: Collection[str], free: int
    ) -> Verdict:
        same = [path for path, each in self._parsed().items() if each.id == note.id]
        facts = {
            Verdict.CONFLICT: len(same) > 1,
            Verdict.DEPRECATED: note.status is not Status.ACTIVE,
            Verdict.NO_DESCRIPTION: not note.description,
            Verdict.BELOW_THRESHOLD: score < min_score,
            Verdict.SUPPRESSED: note.id in suppressed,
            Verdict.OVER_LIMIT: free < 1,
        }
        return next((verdict for verdict, holds in facts.items() if holds), Verdict.HINTED)

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
        return self._edit(path or "", authoring.tags_change(add, remove, set), "tags", dry_run)

    def edit_description(
        self, id: str | None, text: str, *, path: str | None = None, dry_run: bool = False
    ) -> Edited:
        """Change the description."""
        self._called("edit_description")
        return self._edit(path or "", authoring.description_change(text), "description", dry_run)

    def set_status(
        self, id: str | None, status: Status, *, path: str | None = None, dry_run: bool = False
    ) -> Edited:
        """Change the status."""
        self._called("set_status")
        return self._edit(path or "", authoring.status_change(status), "status", dry_run)

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
            path: authoring.renamed_tags(note.tags, source, target)
            for path, note in sorted(self._parsed().items())
        }
        return tuple(
            self._edit(path, authoring.tags_change((), (), tags), "tags", dry_run)
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
        edited = authoring.edited(path, self._data(path), change)
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

    def _facts(self) -> list[tuple[Note, NoteFacts]]:
        parsed = self._parsed()
        found = []
        for path, note in parsed.items():
            same = tuple(each for each in parsed if note.id and parsed[each].id == note.id and each != path)
            is_admitted = bool(note.id and note.description and note.status is Status.ACTIVE and not same)
            facts = NoteFacts(
                path,
                note.id,
                note.name,
                note.description,
                note.tags,
                note.status,
                note.problems,
                same,
                is_admitted,
            )
            found.append((note, facts))
        return found

    def _diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(each for _, facts in self._facts() for each in diagnose(facts))

    def _views(self) -> tuple[NoteView, ...]:
        return tuple(
            NoteView(
                path=note.path,
                id=note.id,
                name=note.name,
                description=note.description,
                tags=note.tags,
                status=note.status,
                admitted=facts.is_admitted,
                indexed=bool(note.id) and not facts.conflict_paths,
                created_at=note.created_at,
                updated_at=note.updated_at,
                diagnostics=tuple(each.code for each in diagnose(facts)),
                size=len(self.files[note.path]),
                mtime_ns=0,
                is_pending=False,
            )
            for note, facts in self._facts()
        )


def _signals(note: Note, terms: Sequence[str]) -> Signals:
    body, meta = note.body.casefold(), f"{note.name} {note.description} {' '.join(note.tags)}".casefold()
    found = tuple(term for term in terms if term in body or term in meta)
    share = len(found) / max(1, len(terms))
    in_meta = sum(term in meta for term in terms) / max(1, len(terms))
    in_body = sum(term in body for term in terms) / max(1, len(terms))
    chunk = ChunkSignal(
        text=note.body.strip(),
        heading=note.name,
        line_start=note.body_line,
        line_end=note.body_line + 2,
        cosine=round(in_body * 0.6, 3),
        weight=1.0,
        likeness=round(in_body, 3),
    )
    return Signals(
        dense_metadata=round(in_meta, 3),
        dense_body=round(in_body, 3),
        dense=round(max(in_meta, in_body) * 0.8, 3),
        bm25=round(share * 0.6, 3),
        chunks=(chunk,),
        terms=found,
    )


def note_file(
    name: str,
    *,
    id: str | None = None,
    description: str = "",
    tags: Sequence[str] = (),
    status: str = "active",
    day: str = "2026-05-14",
    body: str = "",
) -> bytes:
    """The bytes of a note as a person would write it; an empty field is left out."""
    lines = ["---"]
    lines += [f"id: {id}"] if id else []
    lines += [f"name: {_quoted(name)}"]
    lines += [f"description: {_quoted(description)}"] if description else []
    lines += ["tags:", *(f"  - {tag}" for tag in tags)] if tags else []
    lines += [
        f"status: {status}",
        f"created_at: {day}T10:30:00.000Z",
        f"updated_at: {day}T10:30:00.000Z",
        "---",
    ]
    return "\n".join([*lines, "", body or f"# {name}", ""]).encode()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def refused(path: str) -> EditRefusedError:
    """What an edit that cannot be proven raises."""
    return EditRefusedError(
        f"{path} cannot be edited: bad_yaml, line 3", advice="Mend the note in an editor first."
    )


LONGEST_MOMENT_S = 0.5
"""What the dashboard puts off for a moment, it puts off for less than this; a toast stays longer."""


async def settled(app: App[int], *, seconds: float = 20.0) -> None:
    """Let the app run until no message waits, nothing is asked, drawn, or put off for a moment.

    Raises AssertionError when it does not come to rest within `seconds`.
    """
    ends, quiet = time.monotonic() + seconds, 0
    while quiet < 4:  # between two messages, a task may be about to send the next one
        assert time.monotonic() < ends, "the dashboard did not come to rest"
        is_busy = _has_messages(app) or _is_asking(app) or _is_to_be_drawn(app) or _has_put_off(app)
        quiet = 0 if is_busy else quiet + 1
        await asyncio.sleep(0.005 if is_busy else 0)


def _has_messages(app: App[int]) -> bool:
    return any(pump._message_queue.qsize() or pump._next_callbacks for pump in (app, *app._registry))


def _is_asking(app: App[int]) -> bool:
    """An engine call is under way, or the parser of a note's body, which has a thread too."""
    return any(not worker.is_finished for worker in app.workers) or any(
        isinstance(node, Markdown) and node.lock.is_locked for node in app._registry
    )


def _is_to_be_drawn(app: App[int]) -> bool:
    screen = app.screen
    return screen.is_current and bool(
        screen._layout_required
        or screen._scroll_required
        or screen._repaint_required
        or screen._recompose_required
        or screen._dirty_widgets
        or screen._callbacks
    )


def _has_put_off(app: App[int]) -> bool:
    return any(
        timer._repeat is not None
        and timer._interval < LONGEST_MOMENT_S
        and timer._task is not None
        and not timer._task.done()
        for pump in (app, *app._registry)
        for timer in pump._timers
    )


async def until(pilot: Pilot[int], holds: Callable[[], object], *, seconds: float = 20.0) -> None:
    """Let the app run until something holds. Raises AssertionError when it does not within `seconds`."""
    ends = time.monotonic() + seconds
    while not _is_so(holds):
        assert time.monotonic() < ends, "the condition did not come true"
        await asyncio.sleep(0.04)
    await pilot.pause()


def _is_so(holds: Callable[[], object]) -> bool:
    try:
        return bool(holds())
    except (LookupError, NoMatches):
        return False


def screen_text(app: App[int]) -> str:
    """What the screen shows, line by line."""
    # What is drawn here is kept: without the screens below, a dialog's surroundings would stay empty.
    visible_screen_stack.set(app._background_screens)
    return "\n".join(
        "".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()
    )
