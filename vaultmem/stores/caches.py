"""The state dir, opened: the catalog, the live generation of each store, and the kept vectors.

All of it is derived and may be deleted at any moment. A store's folder carries a number, its generation; the catalog
names the live one. What is torn, foreign or made by another rule is left where it is and the next generation is
begun beside it, so that readers are never pulled off what they hold.

`dense-N/` and `lexical-N/` belong to the catalog; without a usable catalog they mean nothing and are made anew.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from vaultmem.errors import EngineError, StoreError
from vaultmem.files import lock, seals
from vaultmem.files.state_dir import make_own
from vaultmem.stores.catalog import Catalog
from vaultmem.stores.dense import DenseStore
from vaultmem.stores.folders import demand_means
from vaultmem.stores.lexical import LexicalStore
from vaultmem.stores.sqlite_file import REPAIR_ADVICE, is_passing
from vaultmem.stores.vectors import VECTORS_KEPT_S, VectorStore

CATALOG_FILE = "catalog.sqlite"
VECTORS_FILE = "vectors.sqlite"

SPARE_VECTORS = 256
"""So many vectors of texts that no note has any more are kept; in a larger vault as many as are in use."""

SESSION_LOCK_KEPT_S = 86_400

CONDEMNED = "condemned"
"""In the place of the rules that a generation was made with: it is empty, and waits to be made anew."""

OUTDATED = "outdated"
"""In the same place: the generation answers, but another is wanted."""


class StoreName(StrEnum):
    """The two derived stores."""

    LEXICAL = "lexical"
    DENSE = "dense"


class Caches:
    """One process's handles on a state dir. One thread at a time, but for the catalog.

    A writer makes what is missing and replaces what cannot be used. For a reader, stores that were never begun are
    None.

    Raises:
        StoreError: there is no usable catalog, and this is a reader.
    """

    def __init__(self, state_dir: Path, *, writable: bool) -> None:
        _refuse_forked_child()
        self.state_dir = state_dir
        self._writable = writable
        self._lexical: tuple[int, LexicalStore] | None = None
        self._dense: tuple[int, DenseStore] | None = None
        self._vectors: VectorStore | None = None
        self._is_child_at_work = False
        self.condemned: list[str] = []
        """What was found broken and set aside, in words, until somebody tells it."""
        if writable:
            make_own(state_dir)
        self._is_catalog_trusted = self.is_catalog_as_left or not (state_dir / CATALOG_FILE).exists()
        vectors = state_dir / VECTORS_FILE
        self._are_vectors_trusted = seals.is_as_left(vectors) or not vectors.exists()
        self.catalog = self._open_catalog()

    # --- the catalog

    @property
    def is_catalog_as_left(self) -> bool:
        """Nobody has written to the catalog's file since we last knew it sound; nothing of it is read."""
        return seals.is_as_left(self.state_dir / CATALOG_FILE)

    def check_catalog(self) -> None:
        """See that the catalog is sound, where its file is another than we left: then every row is looked at.

        Our own writing changes the file too, whenever SQLite takes its journal in. Raises StoreError.
        """
        if self._is_catalog_trusted and self.is_catalog_as_left:
            return
        if not self.catalog.is_sound():
            raise StoreError(
                f"{self.state_dir / CATALOG_FILE} is damaged", store="catalog", advice=REPAIR_ADVICE
            )
        self._is_catalog_trusted = True
        seals.note_left(self.state_dir / CATALOG_FILE)

    def take_in_journal(self) -> None:
        """Bring the catalog's file up to date when much of it is still in SQLite's journal."""
        self.catalog.take_in_journal()
        if self._is_catalog_trusted and not self.is_catalog_as_left:
            seals.note_left(self.state_dir / CATALOG_FILE)

    def _open_catalog(self) -> Catalog:
        path = self.state_dir / CATALOG_FILE
        try:
            return Catalog(path, writable=self._writable)
        except StoreError as met:
            if not self._writable or is_passing(met):
                raise
        return self._new_catalog()

    def _new_catalog(self) -> Catalog:
        path = self.state_dir / CATALOG_FILE
        self._throw_away(path)
        self._is_catalog_trusted = True
        return Catalog(path, writable=True)

    def replace_catalog(self) -> None:
        """Begin with an empty catalog: everything is synced again, vectors are reused."""
        demand_means(self.state_dir)
        self.condemned.append("the catalog was damaged and is built again from the notes")
        self.drop_handles()
        self.catalog.close()
        self.catalog = self._new_catalog()

    def close(self) -> None:
        """Let go of every handle."""
        for store in (self._lexical, self._dense):
            if store is not None:
                store[1].close()
        with contextlib.suppress(StoreError):
            self._seal_after_child()
        if self._vectors is not None:
            self._vectors.close()
        self.catalog.close()
        if self._writable and self._is_catalog_trusted:
            seals.note_left(self.state_dir / CATALOG_FILE)
        if self._writable and self._are_vectors_trusted:
            seals.note_left(self.state_dir / VECTORS_FILE)
        self._lexical = self._dense = self._vectors = None

    # --- generations

    def generation(self, store: StoreName) -> int:
        """The number of the live generation; 0 when there never was one."""
        return int(self.catalog.meta(f"{store}_generation") or 0)

    def made_with(self, store: StoreName) -> str | None:
        """The fingerprint of the rules that the live generation was made with."""
        return self.catalog.meta(f"{store}_made_with")

    def folder(self, store: StoreName, generation: int) -> Path:
        """Where a generation lies."""
        return self.state_dir / f"{store}-{generation}"

    def begin(self, store: StoreName, made_with: str, *, dimension: int = 0) -> None:
        """Make an empty next generation and let it be the live one: what it lacks is pending."""
        number = self._clear_next(store)
        if store is StoreName.LEXICAL:
            LexicalStore(self.folder(store, number), writable=True).close()
        else:
            DenseStore(self.folder(store, number), dimension, writable=True).close()
        with self.catalog.transaction():
            self._name_live(store, number, made_with, dimension)
            self.catalog.forget_digests(store)

    def condemn(self, store: StoreName, why: str) -> None:
        """Put an empty generation in the place of one that cannot be used: what it held is pending."""
        demand_means(self.state_dir)
        self.condemned.append(f"the {store} store was damaged and is built again from the notes ({why})")
        self.drop_handles()
        self.begin(store, CONDEMNED, dimension=int(self.catalog.meta(f"{store}_dimension") or 0) or 1)

    def outdate(self, store: StoreName) -> None:
        """Let the live generation answer until the next sync has made another."""
        with self.catalog.transaction():
            self.catalog.set_meta(f"{store}_made_with", OUTDATED)

    @contextmanager
    def next_lexical(self, made_with: str) -> Iterator[tuple[LexicalStore, NextGeneration]]:
        """A generation to fill beside the live one; it becomes live when `switch()` of the second value is called."""
        number = self._clear_next(StoreName.LEXICAL)
        store = LexicalStore(self.folder(StoreName.LEXICAL, number), writable=True)
        try:
            yield store, NextGeneration(self, StoreName.LEXICAL, number, made_with)
        finally:
            store.close()

    def _clear_next(self, store: StoreName) -> int:
        number = self.generation(store) + 1
        shutil.rmtree(self.folder(store, number), ignore_errors=True)
        return number

    def _name_live(self, store: StoreName, number: int, made_with: str, dimension: int) -> None:
        self.catalog.set_meta(f"{store}_generation", str(number))
        self.catalog.set_meta(f"{store}_made_with", made_with)
        self.catalog.set_meta(f"{store}_dimension", str(dimension))
        self.catalog.set_meta(f"{store}_seal", None)

    def sweep_folders(self) -> None:
        """Delete generations that are not live. Readers that still hold one see the new number at their next query."""
        for store in StoreName:
            live = self.folder(store, self.generation(store))
            for folder in self.state_dir.glob(f"{store}-*"):
                is_generation = folder.name.removeprefix(f"{store}-").isdecimal()
                if is_generation and folder != live:
                    shutil.rmtree(folder, ignore_errors=True)

    def sweep_session_locks(self) -> None:
        """Delete what killed hooks left of their sessions' locks after a day; one that is held stays."""
        oldest_ns = (time.time() - SESSION_LOCK_KEPT_S) * 1e9
        for file in (self.state_dir / lock.SESSIONS_FOLDER).glob("*.lock"):
            stat = seals.stat_of(file)
            if stat is not None and stat.mtime_ns < oldest_ns:
                lock.remove(file, state_dir=self.state_dir)

    # --- seals

    def seal(self) -> None:
        """Record what the files of the live stores are now. Inside a transaction.

        While a child process builds an index, nobody can say what they will be: sealed once it has ended.
        """
        self._is_child_at_work = self._dense is not None and self._dense[1].is_building
        for store in StoreName:
            if number := self.generation(store):
                is_open = store is StoreName.DENSE and self._is_child_at_work
                made = None if is_open else seals.take(self.folder(store, number), self._sealed(store) or {})
                self.catalog.set_meta(f"{store}_seal", None if made is None else seals.to_text(made))

    def tampering(self, store: StoreName, *, every_byte: bool = False) -> seals.Tampering | None:
        """What others did to the files of a live store; None where that cannot be told, for they are not sealed."""
        sealed, number = self._sealed(store), self.generation(store)
        if not number:
            return seals.Tampering()
        return (
            None
            if sealed is None
            else seals.compare(self.folder(store, number), sealed, every_byte=every_byte)
        )

    @property
    def are_files_as_left(self) -> bool:
        """By their stat values nobody but us has written to the catalog or a store."""
        live = [(store, number) for store in StoreName if (number := self.generation(store))]
        return self.is_catalog_as_left and all(
            seals.is_untouched(self.folder(store, number), self._sealed(store) or {})
            for store, number in live
        )

    @property
    def is_child_at_work(self) -> bool:
        """A child process of ours is changing the files of the dense store; once it is done they are sealed."""
        if self._is_child_at_work and self._dense is not None and not self._dense[1].is_building:
            self._seal_after_child()
        return self._is_child_at_work

    def _seal_after_child(self) -> None:
        if self._is_child_at_work:
            with self.catalog.transaction():
                self.seal()

    def _sealed(self, store: StoreName) -> dict[str, seals.FileSeal] | None:
        return seals.of_text(self.catalog.meta(f"{store}_seal"))

    # --- the live stores

    def store(self, name: StoreName) -> LexicalStore | DenseStore | None:
        """The live store of this name, or None when there is none yet. Raises StoreError."""
        return self.lexical if name is StoreName.LEXICAL else self.dense

    @property
    def lexical(self) -> LexicalStore | None:
        """The live lexical store, or None when there is none yet.

        Raises:
            StoreError: it is torn or foreign.
        """
        number = self.generation(StoreName.LEXICAL)
        if self._lexical is not None and self._lexical[0] != number:
            self._lexical[1].close()
            self._lexical = None
        if self._lexical is None and number:
            store = LexicalStore(self.folder(StoreName.LEXICAL, number), writable=self._writable)
            self._lexical = number, store
        return self._lexical[1] if self._lexical else None

    @property
    def dense(self) -> DenseStore | None:
        """The live dense store, or None when there is none yet.

        Raises:
            StoreError: it is torn or foreign.
        """
        number = self.generation(StoreName.DENSE)
        if self._dense is not None and self._dense[0] != number:
            self._dense[1].close()
            self._dense = None
        if self._dense is None and number:
            dimension = int(self.catalog.meta("dense_dimension") or 0)
            store = DenseStore(self.folder(StoreName.DENSE, number), dimension, writable=self._writable)
            self._dense = number, store
        return self._dense[1] if self._dense else None

    @property
    def vectors(self) -> VectorStore | None:
        """The kept vectors; None for a reader while there are none. A writer replaces a file that cannot be used."""
        if self._vectors is None:
            path = self.state_dir / VECTORS_FILE
            try:
                self._vectors = VectorStore.open(path, writable=self._writable)
            except StoreError as met:
                if not self._writable:
                    return None
                if is_passing(met):
                    raise
                self._throw_away(path)
                self._vectors = VectorStore.open(path, writable=True)
        return self._vectors

    def check_vectors(self) -> None:
        """See that the kept vectors are sound where their file is another than we left; damaged ones are begun anew."""
        if not self._are_vectors_trusted:
            self.set_vectors_aside()

    def set_vectors_aside(self) -> bool:
        """Begin the kept vectors anew where they are damaged; whether they were."""
        try:
            if self.vectors is not None:
                self.vectors.verify()
            is_damaged = False
        except StoreError as met:
            self.replace_vectors(met)
            is_damaged = True
        self._are_vectors_trusted = True
        return is_damaged

    def trim_vectors(self, fingerprint: str) -> None:
        """Forget kept vectors of other models, and of texts that no note has, but for the newest spare ones."""
        if self.vectors is None:
            return
        chunks, long_ago = self.catalog.chunk_count(), time.time() - VECTORS_KEPT_S
        most = max(chunks, SPARE_VECTORS)
        try:
            if self.vectors.count() > chunks + most or self.vectors.has_older(long_ago):
                self.vectors.prune(fingerprint, self.catalog.chunk_hashes(), long_ago, most)
        except StoreError as met:
            if not is_passing(met):
                self.replace_vectors(met)

    def replace_vectors(self, met: StoreError) -> None:
        """Begin with an empty file of vectors, embedded again; raise `met` if the file is not to blame."""
        if is_passing(met):
            raise met
        demand_means(self.state_dir)
        self.condemned.append("the kept vectors were damaged; their texts are embedded again")
        if self._vectors is not None:
            self._vectors.close()
            self._vectors = None
        _remove_database(self.state_dir / VECTORS_FILE)

    def _throw_away(self, path: Path) -> None:
        """Delete an SQLite file that cannot be used; on a full disk that is not told from one that has no room."""
        if path.exists():
            demand_means(self.state_dir)
        _remove_database(path)

    def drop_handles(self) -> None:
        """Forget the open stores, so that the next use opens them again."""
        for store in (self._lexical, self._dense):
            if store is not None:
                with contextlib.suppress(StoreError):
                    store[1].close()
        self._lexical = self._dense = None


class NextGeneration:
    """A generation that is being filled beside the live one."""

    def __init__(self, caches: Caches, store: StoreName, number: int, made_with: str) -> None:
        self._caches, self._store, self._number, self._made_with = caches, store, number, made_with

    def switch(self, versions: dict[int, str]) -> None:
        """Make it the live one. `versions` are the note_key and digest of what it holds. Inside a transaction."""
        self._caches._name_live(self._store, self._number, self._made_with, 0)
        self._caches.catalog.forget_digests(self._store)
        self._caches.catalog.set_digests(self._store, dict(versions))


def _remove_database(path: Path) -> None:
    """Delete an SQLite file with its journals."""
    for suffix in ("", "-wal", "-shm"):
        file = path.with_name(path.name + suffix)
        if file.is_dir():
            shutil.rmtree(file)
        else:
            file.unlink(missing_ok=True)


_was_forked_after_lancedb = False


def _note_fork() -> None:
    global _was_forked_after_lancedb
    _was_forked_after_lancedb = "lancedb" in sys.modules


os.register_at_fork(after_in_child=_note_fork)


def _refuse_forked_child() -> None:
    """LanceDB's threads do not live on in a forked child, and a call there hangs or crashes it."""
    if _was_forked_after_lancedb:
        raise EngineError(
            "the caches cannot be used in a process that was forked after LanceDB was loaded",
            advice="Start the process by spawn instead of fork, or run `vaultmem` as a command.",
        )
