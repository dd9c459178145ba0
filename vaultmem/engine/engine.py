"""The engine: opens the caches, holds the lock, and is the one place that changes anything. Surfaces ask it.

One process writes at a time. With `hold` the engine keeps the writer's lock for as long as it is open, or waits for
it in the background; without, it takes the lock for each sync. Reading never needs the lock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar

from vaultmem.config import Config
from vaultmem.editing import changes
from vaultmem.embedding.embedder import Embedder
from vaultmem.engine import answers, journal
from vaultmem.engine.editor import Editor
from vaultmem.engine.id_clock import IdClock
from vaultmem.engine.keeper import Keeper
from vaultmem.engine.lost import diagnose_lost_versions
from vaultmem.engine.opened import copies, read_memory, readable_note
from vaultmem.engine.parts import Parts
from vaultmem.errors import (
    ConflictError,
    NoteNotFoundError,
    RootMissingError,
    StoreError,
)
from vaultmem.events import Event
from vaultmem.files.vault import Vault
from vaultmem.notes.diagnostics import diagnose_root
from vaultmem.notes.metadata import Status
from vaultmem.text.moments import utc_now
from vaultmem.views import (
    DoctorReport,
    Edited,
    EngineStatus,
    Freshness,
    NoteCopy,
    NoteView,
    OpenedMemory,
    Saved,
    SearchResult,
    Trashed,
)

if TYPE_CHECKING:
    from vaultmem.engine.background import Background
    from vaultmem.notes.diagnostics import Diagnostic
    from vaultmem.notes.parse import Note
    from vaultmem.recall.answer import Recall

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Read = TypeVar("_Read", bound="Note | OpenedMemory")


def _by_keeper(verb: Callable[Concatenate[Keeper, _P], _T]) -> Callable[Concatenate[Engine, _P], _T]:
    """A verb of the engine that is the keeper's own, with its words and arguments."""

    @wraps(verb)
    def passed_on(engine: Engine, /, *args: _P.args, **options: _P.kwargs) -> _T:
        return verb(engine.parts.keeper, *args, **options)

    return passed_on


class Engine:
    """A memory root and its caches. Make one with `Engine.open`; it is a context manager, safe to use from threads."""

    def __init__(self, config: Config, embedder: Embedder | None = None, *, hold: bool = False) -> None:
        self.background: Background | None = None
        self.parts = Parts.of(config, embedder, hold=hold, wake=self._wake, is_scanning=self._is_scanning)
        self._diagnosed_at: tuple[object, answers.Diagnosed] | None = None
        self._editor = Editor(
            self.parts.vault,
            path_of=lambda note_id: self._by_id(note_id, readable_note).path,
            paths_with_id=self._paths_with_id,
            demand_root=self.parts.keeper.demand_root,
            follow=self.parts.keeper.after_write,
            strike=IdClock(config.state_dir).strike,
        )

    @classmethod
    def open(
        cls,
        root: str | Path | None = None,
        state_dir: str | Path | None = None,
        embedder: str | Embedder | None = None,
        *,
        hold: bool = False,
        watch: bool = False,
        config: Config | None = None,
    ) -> Self:
        """Open the engine on a memory root; nothing is scanned or loaded yet.

        `embedder` is a choice (auto, bundled, sentence-transformers, none) or an Embedder. `hold` keeps the writer's
        lock; `watch` follows changes and embeds in the background. A `config` takes the place of the settings, and of
        `root` and `state_dir`. Raises ConfigError, EmbedderError.
        """
        choice = embedder if isinstance(embedder, str) else None
        if config is None:
            config = Config.load(root=root, state_dir=state_dir, embedder=choice)
        elif choice is not None:
            config = config.with_engine(choice)
        engine = cls(config, None if isinstance(embedder, str) else embedder, hold=hold)
        if hold:
            engine.parts.access.try_become_writer()
        if watch:
            engine.follow()
        return engine

    def follow(self) -> None:
        """Follow changes and embed in the background until `close`; whoever subscribed before misses nothing."""
        if self.background is None:
            from vaultmem.engine.background import Background

            self.background = Background(self.parts)
            self.background.start()

    def _wake(self) -> None:
        background = self.background  # `close`, in another thread, may take it away between two looks
        if background is not None:
            background.wake()

    def _is_scanning(self) -> bool:
        background = self.background
        return background is not None and background.state == "scanning"

    def close(self) -> None:
        """Stop the background, close the caches, release the lock."""
        if self.background is not None:
            self.background.stop()
            self.background = None
        self.parts.access.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- sync: the keeper's verbs, as they are

    sync = _by_keeper(Keeper.sync)
    reindex = _by_keeper(Keeper.reindex)
    freshen = _by_keeper(Keeper.freshen)
    look_again = _by_keeper(Keeper.look_again)

    # --- asking

    @property
    def config(self) -> Config:
        """The settings in force."""
        return self.parts.config

    @property
    def is_writer(self) -> bool:
        """This process holds the writer's lock."""
        return self.parts.access.is_writer

    @property
    def freshness(self) -> Freshness:
        """How current the answers are. Raises StoreError while there are no caches."""
        with self.parts.access.reader() as caches:
            scanned = caches.catalog.meta("last_scan_at")
        at = datetime.fromtimestamp(float(scanned), UTC) if scanned else None
        return Freshness(at, self.parts.keeper.overlay.count, self.parts.access.writer_pid)

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        min_score: float | None = None,
        project: str | None = None,
        suppressed: Collection[str] = (),
    ) -> Recall:
        """The hints a query gets, and every candidate with its signals. Records nothing.

        Raises RootMissingError, StoreError.
        """
        from vaultmem.recall.rank import recall

        self.freshen(minds_stores=True)

        def answer(without: Collection[str] = ()) -> Recall:
            with self.parts.access.reader() as caches:
                return recall(
                    query,
                    answers.recall_sources(
                        caches,
                        self.parts.vault,
                        self.parts.keeper.overlay,
                        self.parts.embedder,
                        without,
                        self.parts.keeper.as_of,
                    ),
                    limit=self.config.hint_limit if limit is None else limit,
                    min_score=self.config.min_score if min_score is None else min_score,
                    project=project,
                    suppressed=suppressed,
                    now=utc_now(),
                )

        return self._persisted(answer)

    def _persisted(self, answer: Callable[..., Recall]) -> Recall:
        """An answer from caches that may be broken: opened anew, then mended, in the end without the broken store.

        A writer that has just swapped rows looks broken for an instant, hence the second look before any mending.
        """
        try:
            return answer()
        except StoreError:
            self.parts.access.drop_reader()
        try:
            return answer()
        except StoreError as error:
            self.parts.keeper.mend_unreadable(error)
        try:
            return answer()
        except StoreError as error:
            if error.store not in ("lexical", "dense"):
                raise
            return answer({error.store})

    def _mended(self, ask: Callable[[], _T]) -> _T:
        """The answer of caches that are mended, where this process may, if they turn out to be broken."""
        try:
            return ask()
        except StoreError as error:
            self.parts.keeper.mend_unreadable(error)
            return ask()

    def notes(self) -> tuple[NoteView, ...]:
        """Every note on record, by path. Raises RootMissingError, StoreError."""
        return answers.note_views(self._mended(self._diagnosed))

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the notes, by path; a root that is missing is the only diagnostic there is then.

        Raises StoreError.
        """
        try:
            found = self._diagnosed()
        except RootMissingError as error:
            return (diagnose_root(str(error)),)
        of_notes = (d for of_note in found.diagnostics.values() for d in of_note)
        return (*of_notes, *diagnose_lost_versions(self.parts.vault, found.rows))

    def tags(self) -> Mapping[str, int]:
        """How many notes carry each tag, most used first. Raises RootMissingError, StoreError."""
        return answers.tag_counts(self._mended(self._diagnosed).rows)

    def _diagnosed(self) -> answers.Diagnosed:
        """Every note with its diagnostics, remembered until something is committed or differs on disk."""
        self.freshen()
        with self.parts.access.reader() as caches:
            now = caches.catalog, caches.catalog.state_of_data, self.parts.keeper.overlay
            if self._diagnosed_at is None or self._diagnosed_at[0] != now:
                self._diagnosed_at = now, answers.diagnosed(caches.catalog, self.parts.keeper.overlay)
            return self._diagnosed_at[1]

    def open_memory(self, id: str) -> OpenedMemory:
        """A memory's Markdown, whole, as it is on disk now.

        Raises NoteNotFoundError, ConflictError (with the paths), RefusedError when it cannot be read,
        RootMissingError, StoreError.
        """
        return self._by_id(id, read_memory)

    def _by_id(self, id: str, read: Callable[[Vault, str], _Read]) -> _Read:
        self.freshen()
        try:
            return self._read_by_id(id, read)
        except (NoteNotFoundError, ConflictError):  # perhaps written, moved or edited since the last look
            self.look_again()
            return self._read_by_id(id, read)

    def _read_by_id(self, note_id: str, read: Callable[[Vault, str], _Read]) -> _Read:
        """What `read` makes of the memory where the last look saw it; the file must still have the id."""
        path = self._locate(note_id)
        memory = read(self.parts.vault, path)
        if memory.id != note_id.strip():
            raise NoteNotFoundError(f"{path} no longer has the id {note_id!r}")
        return memory

    def _locate(self, note_id: str) -> str:
        def locate() -> str:
            with self.parts.access.reader() as caches:
                return answers.locate(caches.catalog, self.parts.keeper.overlay, note_id)

        return self._mended(locate)

    def read_note(self, path: str) -> OpenedMemory:
        """Any note, by its path, as it is on disk now. Raises NoteNotFoundError, RefusedError."""
        return read_memory(self.parts.vault, path)

    def copies(self, id: str) -> tuple[NoteCopy, ...]:
        """The notes that carry this id, with what tells them apart. Raises RootMissingError, StoreError."""
        self.freshen()
        return copies(self.parts.vault, self._paths_with_id(id.strip()))

    def search(
        self, pattern: str, *, limit: int = 20, fixed: bool = False, include_all: bool = False
    ) -> SearchResult:
        """Text search over the notes as they are on disk now; active, unconflicted ones unless `include_all`.

        Raises UsageError for a pattern that cannot be searched, RootMissingError, StoreError.
        """
        from vaultmem.engine.text_search import search_notes

        self.freshen()

        def search() -> SearchResult:
            with self.parts.access.reader() as caches:
                return search_notes(
                    caches.catalog,
                    self.parts.keeper.overlay,
                    self.parts.vault,
                    pattern,
                    limit=limit,
                    fixed=fixed,
                    include_all=include_all,
                )

        return self._mended(search)

    def status(self) -> EngineStatus:
        """What the caches hold and who writes. Looks at no note."""
        from vaultmem.engine.status import read_status

        return read_status(self.parts)

    def doctor(self, *, repair: bool = False) -> DoctorReport:
        """The notes' health and the caches' integrity; `repair` rebuilds what disagrees and checks again."""
        from vaultmem.engine.doctor import examine, mend

        if repair:
            mend(self.parts)
        return examine(self.parts, self)

    def activity(self) -> tuple[Event, ...]:
        """What the engine did lately, in whatever process, newest last."""
        try:
            with self.parts.access.reader() as caches:
                return journal.read(caches.catalog)
        except StoreError:
            return ()

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call `callback` with each event from now on, in the engine's threads; returns the way to end that."""
        return self.parts.subscribers.subscribe(callback)

    def _paths_with_id(self, note_id: str) -> tuple[str, ...]:
        with self.parts.access.reader() as caches:
            return self.parts.keeper.overlay.paths_with_id(caches.catalog, note_id)

    # --- editing: what each method may raise is said in `editor`

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
        """Change the tags entry of one note and nothing else; `path` chooses among notes with one id."""
        change = changes.tags_change(add, remove, set)
        return self._editor.edit(id, path, change, "tags", dry_run=dry_run)

    def edit_description(
        self, id: str | None, text: str, *, path: str | None = None, dry_run: bool = False
    ) -> Edited:
        """Change the description entry and nothing else."""
        change = changes.description_change(text)
        return self._editor.edit(id, path, change, "description", dry_run=dry_run)

    def set_status(
        self, id: str | None, status: Status, *, path: str | None = None, dry_run: bool = False
    ) -> Edited:
        """Change the status entry and nothing else."""
        change = changes.status_change(status)
        return self._editor.edit(id, path, change, "status", dry_run=dry_run)

    def adopt(self, path: str, *, dry_run: bool = False) -> Edited:
        """Give a note without an id, or one of several with the same id, a fresh one."""
        self.look_again()
        return self._editor.adopt(path, dry_run=dry_run)

    def rename_tag(self, old: str, new: str, *, dry_run: bool = False) -> tuple[Edited, ...]:
        """Rename a tag and its children in every note that has them, or merge it with another."""
        return self._editor.rename_tag(self._diagnosed().rows, old, new, dry_run=dry_run)

    def apply(self, edited: Edited, what: str) -> None:
        """Write exactly what a dry run showed, while the note is still the one that it was shown for."""
        self._editor.apply(edited, what)

    def undo(self, edited: Edited) -> None:
        """Put back the bytes from before an edit, while the note still holds what the edit left."""
        self._editor.undo(edited)

    def suggest_description(self, path: str) -> str:
        """The first sentence of a note's body, cut to what a hint shows, as a proposal; empty when there is none."""
        note = self.parts.vault.read_note(path).note
        return changes.suggested_description(note, self.config.description_width)

    def trash(self, path: str, *, dry_run: bool = False) -> Trashed:
        """Move a note to the `.trash` of its Obsidian vault."""
        return self._editor.trash(path, dry_run=dry_run)

    def restore(self, trashed: Trashed) -> None:
        """Move a note back from the trash."""
        self._editor.restore(trashed)

    def save(
        self,
        *,
        id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        tags: Iterable[str] | None = None,
        body: str | None = None,
        dry_run: bool = False,
    ) -> Saved:
        """Write a new memory, or with `id` change the given fields of one; what is not given stays."""
        fields = changes.checked_fields(name, description, tags)
        return self._editor.save(id, fields, body, similar=self._similar, dry_run=dry_run)

    def _similar(self, memory: OpenedMemory) -> tuple[str, ...]:
        """Ids of other memories that say nearly the same."""
        try:
            found = self.recall(
                f"{memory.name}\n{memory.description}", limit=5, min_score=answers.SIMILAR_BY_WORDS
            )
        except (RootMissingError, StoreError):
            return ()
        return answers.similar_ids(found, memory)
