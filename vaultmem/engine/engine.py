"""The engine: opens the caches, holds the lock, and is the one place that changes anything. Surfaces ask it.

One process writes at a time. With `hold` the engine keeps the writer's lock for as long as it is open, or waits for
it in the background; without, it takes the lock for each sync. Reading never needs the lock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from vaultmem.config import Config
from vaultmem.editing import changes as authoring
from vaultmem.embedding.embedder import Embedder, EngineChosen, describe_choice, open_embedder
from vaultmem.engine import answers, journal
from vaultmem.engine.editor import Editor
from vaultmem.engine.keeper import Keeper
from vaultmem.engine.subscribers import Hub, utc_now
from vaultmem.errors import (
    ConflictError,
    NoteNotFoundError,
    RootMissingError,
    StoreError,
    WriterBusyError,
)
from vaultmem.events import Event, Progress, SyncReport
from vaultmem.files.vault import Vault
from vaultmem.notes.diagnostics import diagnose_root
from vaultmem.notes.metadata import Status
from vaultmem.stores.access import Access
from vaultmem.stores.caches import Caches
from vaultmem.stores.catalog_rows import NoteRow
from vaultmem.sync import integrity
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
    from vaultmem.recall.answer import Recall

SIMILAR_SCORE = 0.85
"""A memory that scores this much for a new one's name and description says nearly the same."""

SIMILAR_LIKENESS = 1.05
"""So does one whose name and description are this much alike, in whatever language: doubles across Chinese and English
had 1.07 to 1.66, different memories up to 0.96."""

SIMILAR_BY_WORDS = 0.6
"""The same where there are no vectors: an identical memory scores about 0.7 by words alone."""


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """Notes on record by path, and what is wrong with each."""

    rows: list[NoteRow]
    diagnostics: Mapping[str, tuple[Diagnostic, ...]]


class Engine:
    """A memory root and its caches. Make one with `Engine.open`; it is a context manager, safe to use from threads."""

    def __init__(
        self, config: Config, embedder: Embedder | None, chosen: EngineChosen, *, hold: bool
    ) -> None:
        self.config = config
        self.vault = Vault(config.root, config.first_advice)
        self.embedder = embedder
        self.chosen = chosen
        self.access = Access(config.state_dir, hold=hold)
        self.hub = Hub()
        self.background: Background | None = None
        self.keeper = Keeper(
            self.vault,
            self.access,
            embedder,
            self.hub,
            lambda: self.background,
            dirty_check_s=config.dirty_check_s,
        )
        self._diagnosed_at: tuple[object, Diagnosed] | None = None
        self._editor = Editor(
            self.vault,
            path_of=lambda note_id: self.open_memory(note_id).path,
            paths_with_id=self._paths_with_id,
            follow=self.keeper.after_write,
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
        if embedder is not None and not isinstance(embedder, str):
            chosen = EngineChosen(embedder.engine, embedder.model, "given by the caller")
            opened: Embedder | None = embedder
        else:
            chosen = describe_choice(config.engine, config.model)
            opened = open_embedder(
                config.engine,
                model=config.model,
                query_prompt=config.query_prompt,
                passage_prompt=config.passage_prompt,
                threads=config.threads,
            )
        engine = cls(config, opened, chosen, hold=hold)
        if hold:
            engine.access.try_become_writer()
        if watch:
            engine.follow()
        return engine

    def follow(self) -> None:
        """Follow changes and embed in the background until `close`; whoever subscribed before misses nothing."""
        if self.background is None:
            from vaultmem.engine.background import Background

            self.background = Background(self)
            self.background.start()

    def close(self) -> None:
        """Stop the background, close the caches, release the lock."""
        if self.background is not None:
            self.background.stop()
            self.background = None
        self.access.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- sync

    # --- sync

    def sync(
        self,
        *,
        embed: bool = True,
        full: bool = False,
        paths: Iterable[str] | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> SyncReport:
        """One pass to completion: look, plan, apply, and with `embed` fill in vectors.

        `full` hashes every file; `paths` (relative to the root) limits the look. Raises RootMissingError,
        WriterBusyError, StoreError, EmbedderError.
        """
        return self.keeper.sync(embed=embed, full=full, paths=paths, progress=progress)

    def reindex(self, *, progress: Callable[[Progress], None] | None = None) -> SyncReport:
        """Build both stores again beside the live ones; vectors are reused by text. Raises what `sync` raises."""
        return self.keeper.reindex(progress=progress)

    def freshen(self) -> None:
        """Look at the files unless that was done a moment ago. Raises RootMissingError."""
        self.keeper.freshen()

    def look_again(self) -> None:
        """Look at the files now, however short ago that was done. Raises RootMissingError."""
        self.keeper.look_again()

    # --- asking

    @property
    def is_writer(self) -> bool:
        """This process holds the writer's lock."""
        return self.access.is_writer

    @property
    def freshness(self) -> Freshness:
        """How current the answers are. Raises StoreError while there are no caches."""
        with self.access.reader() as caches:
            scanned = caches.catalog.meta("last_scan_at")
        at = datetime.fromtimestamp(float(scanned), UTC) if scanned else None
        return Freshness(at, self.keeper.overlay.count, self.access.writer_pid)

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

        self.keeper.freshen()

        def answer() -> Recall:
            with self.access.reader() as caches:
                return recall(
                    query,
                    answers.recall_sources(caches, self.vault, self.keeper.overlay, self.embedder),
                    limit=self.config.hint_limit if limit is None else limit,
                    min_score=self.config.min_score if min_score is None else min_score,
                    project=project,
                    suppressed=suppressed,
                    now=utc_now(),
                )

        try:
            return answer()
        except StoreError:
            self._mend_unreadable_store()
            return answer()

    def _mend_unreadable_store(self) -> None:
        """A store that cannot be read is rebuilt, when this process may; the reader's handles are opened again."""
        self.access.drop_reader()
        try:
            with self.access.writer(timeout_s=0.0) as caches:
                integrity.set_damage_aside(caches)
                self.keeper.sync_lexical(caches)
        except WriterBusyError:
            pass

    def notes(self) -> tuple[NoteView, ...]:
        """Every note on record, by path. Raises RootMissingError, StoreError."""
        found = self._diagnosed()
        return answers.note_views(found.rows, found.diagnostics)

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the notes, by path; a root that is missing is the only diagnostic there is then.

        Raises StoreError.
        """
        try:
            found = self._diagnosed()
        except RootMissingError as error:
            return (diagnose_root(self.config.root, str(error)),)
        return tuple(d for of_note in found.diagnostics.values() for d in of_note)

    def tags(self) -> Mapping[str, int]:
        """How many notes carry each tag, most used first. Raises RootMissingError, StoreError."""
        return answers.tag_counts(self._diagnosed().rows)

    def _diagnosed(self) -> Diagnosed:
        """Every note with its diagnostics, remembered until something is committed or differs on disk."""
        self.keeper.freshen()
        with self.access.reader() as caches:
            now = caches.catalog, caches.catalog.state_of_data, self.keeper.overlay
            if self._diagnosed_at is None or self._diagnosed_at[0] != now:
                rows = answers.current_rows(caches.catalog, self.keeper.overlay)
                self._diagnosed_at = now, Diagnosed(rows, answers.diagnose_rows(rows))
            return self._diagnosed_at[1]

    def open_memory(self, id: str) -> OpenedMemory:
        """A memory's Markdown, whole, as it is on disk now.

        Raises NoteNotFoundError, ConflictError (with the paths), RefusedError when it cannot be read,
        RootMissingError, StoreError.
        """
        self.keeper.freshen()
        try:
            return self._read_by_id(id)
        except (NoteNotFoundError, ConflictError):  # perhaps written, moved or edited since the last look
            self.keeper.look_again()
            return self._read_by_id(id)

    def _read_by_id(self, note_id: str) -> OpenedMemory:
        """The memory where the last look saw it; the file must still have the id."""
        path = self._locate(note_id)
        memory = answers.read_memory(self.vault, path)
        if memory.id != note_id.strip():
            raise NoteNotFoundError(f"{path} no longer has the id {note_id!r}")
        return memory

    def _locate(self, note_id: str) -> str:
        with self.access.reader() as caches:
            return answers.locate(caches.catalog, self.keeper.overlay, note_id)

    def read_note(self, path: str) -> OpenedMemory:
        """Any note, by its path, as it is on disk now. Raises NoteNotFoundError, RefusedError."""
        return answers.read_memory(self.vault, path)

    def copies(self, id: str) -> tuple[NoteCopy, ...]:
        """The notes that carry this id, with what tells them apart. Raises RootMissingError, StoreError."""
        self.keeper.freshen()
        return answers.copies(self.vault, self._paths_with_id(id.strip()))

    def search(
        self, pattern: str, *, limit: int = 20, fixed: bool = False, include_all: bool = False
    ) -> SearchResult:
        """Text search over the notes as they are on disk now; active, unconflicted ones unless `include_all`.

        Raises UsageError for a pattern that cannot be searched, RootMissingError, StoreError.
        """
        self.keeper.freshen()
        with self.access.reader() as caches:
            return answers.search(
                caches.catalog,
                self.keeper.overlay,
                self.vault,
                pattern,
                limit=limit,
                fixed=fixed,
                include_all=include_all,
            )

    def status(self) -> EngineStatus:
        """What the caches hold and who writes. Looks at no note."""
        from vaultmem.engine.doctor import status

        return status(self)

    def doctor(self, *, repair: bool = False) -> DoctorReport:
        """The notes' health and the caches' integrity; `repair` rebuilds what disagrees and checks again."""
        from vaultmem.engine.doctor import doctor

        return doctor(self, repair=repair)

    def activity(self) -> tuple[Event, ...]:
        """What the engine did lately, in whatever process, newest last."""
        try:
            with self.access.reader() as caches:
                return journal.read(caches.catalog)
        except StoreError:
            return ()

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call `callback` with each event from now on, in the engine's threads; returns the way to end that."""
        return self.hub.subscribe(callback)

    def tell(self, event: Event, caches: Caches | None = None) -> None:
        """Tell subscribers; with `caches` also record it in the journal."""
        self.keeper.tell(event, caches)

    def _paths_with_id(self, note_id: str) -> tuple[str, ...]:
        with self.access.reader() as caches:
            return self.keeper.overlay.paths_with_id(caches.catalog, note_id)

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
        change = authoring.tags_change(add, remove, set)
        return self._editor.edit(id, path, change, "tags", dry_run=dry_run)

    def edit_description(
        self, id: str | None, text: str, *, path: str | None = None, dry_run: bool = False
    ) -> Edited:
        """Change the description entry and nothing else."""
        change = authoring.description_change(text)
        return self._editor.edit(id, path, change, "description", dry_run=dry_run)

    def set_status(
        self, id: str | None, status: Status, *, path: str | None = None, dry_run: bool = False
    ) -> Edited:
        """Change the status entry and nothing else."""
        change = authoring.status_change(status)
        return self._editor.edit(id, path, change, "status", dry_run=dry_run)

    def adopt(self, path: str, *, dry_run: bool = False) -> Edited:
        """Give a note without an id, or one of several with the same id, a fresh one."""
        self.keeper.look_again()
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
        """The first sentence of a note's body, as a proposal; empty when there is none."""
        return authoring.suggested_description(self.vault.read_note(path).note)

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
        fields = authoring.checked_fields(name, description, tags)
        return self._editor.save(id, fields, body, similar=self._similar, dry_run=dry_run)

    def _similar(self, memory: OpenedMemory) -> tuple[str, ...]:
        """Ids of other memories that say nearly the same."""
        try:
            found = self.recall(f"{memory.name}\n{memory.description}", limit=5, min_score=SIMILAR_BY_WORDS)
        except (RootMissingError, StoreError):
            return ()
        bar = SIMILAR_BY_WORDS if found.mode == "lexical" else SIMILAR_SCORE
        return tuple(
            near.id
            for near in found.candidates
            if near.verdict == "hinted"
            and near.id != memory.id
            and (near.score >= bar or (near.signals.dense_metadata or 0.0) >= SIMILAR_LIKENESS)
        )
