"""Whether the stores hold what the catalog says, and making it so.

The catalog vouches for one version (digest) of each note in each store. Anything else in a store is a leftover of an
interrupted sync; anything vouched for that is not there, or not there exactly as often as it should be, is missing.
That the stores say tomorrow what they were given today is held by seals (`files.seals`): a file that somebody else
changed condemns its store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from vaultmem.errors import RootMissingError, StoreError, UsageError
from vaultmem.files.seals import Tampering
from vaultmem.files.snapshot import Snapshot
from vaultmem.files.vault import Vault
from vaultmem.stores.caches import Caches, StoreName
from vaultmem.stores.catalog import Catalog
from vaultmem.stores.catalog_rows import Known
from vaultmem.text.amounts import counted

REPLACED_FILES = frozenset({"meta.json", ".managed.json", "store.json"})
"""Files that a commit replaces under the same name; all others of a store are written once and never again."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """How one store differs from the catalog, as (note_key, digest) versions."""

    leftovers: frozenset[tuple[int, str]]
    """In the store, but not vouched for."""
    missing: frozenset[tuple[int, str]]
    """Vouched for, but not in the store."""
    miscounted: frozenset[tuple[int, str]]
    """In the store with too many or too few rows."""

    @property
    def is_empty(self) -> bool:
        """Store and catalog agree."""
        return not (self.leftovers or self.missing or self.miscounted)

    def __str__(self) -> str:
        return (
            f"{len(self.leftovers)} leftover, {len(self.missing)} missing, {len(self.miscounted)} miscounted"
        )


def refuse_foreign_caches(caches: Caches, vault: Vault) -> None:
    """Two memory roots with one state dir would wipe each other's caches at every turn.

    Raises:
        UsageError: the caches are of another root, which is still where it was.
    """
    path, identity = caches.catalog.meta("root_path"), caches.catalog.meta("root_identity")
    if path in (None, str(vault.root)) or identity == vault.identity():
        return
    with suppress(RootMissingError):
        if Vault(Path(path)).identity() == identity:
            raise UsageError(
                f"the state folder {caches.state_dir} belongs to the memory root {path}",
                advice="Give each memory root a state folder of its own: --state-dir, or leave it to vaultmem.",
            )


def is_root_on_record(catalog: Catalog, vault: Vault) -> bool:
    """Whether the root is the very folder that was last scanned whole; true also while there is none on record.

    Raises RootMissingError.
    """
    return catalog.meta("root_identity") in (None, vault.identity())


def refuse_replaced_root(
    catalog: Catalog, vault: Vault, snapshot: Snapshot, known: Mapping[str, Known]
) -> None:
    """Another folder in the place of the root is a drive that is not mounted, unless it holds a note on record.

    A snapshot of some paths only, or one that could not see everything, proves nothing. Raises RootMissingError.
    """
    if not known or snapshot.scope is not None or snapshot.unknown or is_root_on_record(catalog, vault):
        return
    if known.keys().isdisjoint(snapshot.files) and known.keys().isdisjoint(snapshot.placeholders):
        by = "another folder" if snapshot.files else "an empty folder"
        lost = counted(len(known), "note")
        raise RootMissingError(
            f"the memory root {vault.root} was replaced by {by}: none of its {lost} is there",
            advice="Mount or restore it; if this is the right folder, run `vaultmem sync --full`.",
        )


def prepare(caches: Caches, *, lexical_rules: str, note_rules: str) -> bool:
    """Finish what an interrupted sync, or somebody who deleted files, left behind.

    Returns whether every note must be read again, into a new lexical store.

    That is so when the rules are no longer those of the caches, and when the store cannot be read: it is rebuilt
    beside itself.
    """
    caches.check_catalog()
    _see_to_files(caches)
    if _is_usable(caches, lexical_rules) and _has_lost_rows(caches):
        with changing(caches):
            sweep(caches)
    same_rules = caches.catalog.meta("note_rules") == note_rules
    return not (same_rules and _is_usable(caches, lexical_rules))


def _see_to_files(caches: Caches) -> None:
    """Condemn a store whose files are not those that we left; look whole at one that nobody can vouch for."""
    was_interrupted = is_unfinished(caches)
    has_changed = was_interrupted
    for store in StoreName:
        if store is StoreName.DENSE and caches.is_child_at_work:
            continue
        found = caches.tampering(store)
        if found is not None and found.is_none and not was_interrupted:
            has_changed |= bool(found.restamped)
            continue
        has_changed = True
        try:
            _see_to_store(caches, store, found, was_interrupted=was_interrupted)
        except StoreError as error:
            caches.condemn(store, str(error))
    if has_changed:
        _seal(caches)


def _see_to_store(
    caches: Caches, store: StoreName, found: Tampering | None, *, was_interrupted: bool
) -> None:
    """Raises StoreError for a store that is past mending."""
    if found is not None:
        broken = set(found.damaged) - REPLACED_FILES if was_interrupted else {*found.damaged, *found.vanished}
        if broken:
            raise StoreError(str(found), store=store)
    if found is None or not found.is_none:
        opened = caches.store(store)
        if opened is not None:
            opened.verify()
    _sweep(caches, store)


def _is_usable(caches: Caches, lexical_rules: str) -> bool:
    try:
        return caches.lexical is not None and caches.made_with(StoreName.LEXICAL) == lexical_rules
    except StoreError:
        return False


def _has_lost_rows(caches: Caches) -> bool:
    """The lexical store holds fewer or more than it should; to ask the other would load LanceDB."""
    lexical = caches.lexical
    return lexical is not None and lexical.count() != caches.catalog.held_count(StoreName.LEXICAL)


def broken_stores(caches: Caches, *, by_stamp: bool = False) -> list[StoreName]:
    """The stores that cannot be read, or whose content is damaged; every row is looked at.

    `by_stamp` only asks whether each is a store of this version, which loads neither back end.
    """
    return [store for store in StoreName if damage(caches, store, by_stamp=by_stamp)]


def damage(caches: Caches, store: StoreName, *, by_stamp: bool = False) -> str:
    """What is wrong with the content of a store, or empty. Every byte is read, and what recall asks is asked."""
    try:
        if not by_stamp and not is_unfinished(caches):
            found = caches.tampering(store, every_byte=True)
            if found is not None and not found.is_none:
                return f"files are not as they were written: {found}"
        opened = caches.store(store)
        if opened is not None and not by_stamp:
            opened.verify()
    except StoreError as error:
        return str(error)
    return ""


def mend(caches: Caches) -> None:
    """After a StoreError: see to it that the next sync has caches that it can work with.

    Raises:
        StoreError: nothing can be written at all, as on a full disk.
    """
    if not set_damage_aside(caches):  # it reads but cannot be changed: let it answer while another is made
        caches.outdate(StoreName.LEXICAL)


def set_damage_aside(caches: Caches) -> bool:
    """Put an empty catalog or store in the place of each that is damaged; whether there was one. Raises StoreError."""
    if not caches.catalog.is_sound():
        caches.replace_catalog()
        return True
    was_set_aside = caches.set_vectors_aside()
    broken = {store: found for store in StoreName if (found := damage(caches, store))}
    for store, why in broken.items():
        caches.condemn(store, why)
    return bool(broken) or was_set_aside


def rules_applied(caches: Caches, note_rules: str) -> None:
    """Record that every row was made by these rules."""
    with caches.catalog.transaction():
        caches.catalog.set_meta("note_rules", note_rules)


def is_unfinished(caches: Caches) -> bool:
    """A sync was interrupted while it changed a store."""
    return caches.catalog.meta("unfinished") is not None


@contextmanager
def changing(caches: Caches) -> Iterator[None]:
    """Around every change to a store: a kill inside is seen by the next sync, and the files are sealed at the end."""
    with caches.catalog.transaction():
        caches.catalog.set_meta("unfinished", "1")
    yield
    _seal(caches)


def _seal(caches: Caches) -> None:
    """All is well: the files are as they should be."""
    with caches.catalog.transaction():
        caches.seal()
        caches.catalog.set_meta("unfinished", None)
    caches.take_in_journal()


def find_disagreement(caches: Caches, store: StoreName) -> Disagreement:
    """How `store` differs from what the catalog vouches for.

    Raises:
        StoreError: the store cannot be read.
    """
    vouched = caches.catalog.versions(store)
    opened = caches.store(store)
    present = {} if opened is None else opened.versions()
    expected = {(key, digest) for key, digest in vouched.items()}
    rows = caches.catalog.chunk_counts() if store is StoreName.DENSE else {}
    miscounted = {
        version for version in expected & present.keys() if present[version] != (rows.get(version[0], 1) or 1)
    }
    if store is StoreName.DENSE:  # a pending note's rows are those of an older text, whose count nobody knows
        pending = caches.catalog.pending_keys()
        miscounted = {version for version in miscounted if version[0] not in pending}
    return Disagreement(
        leftovers=frozenset(present.keys() - expected),
        missing=frozenset(expected - present.keys()),
        miscounted=frozenset(miscounted),
    )


def sweep(caches: Caches) -> None:
    """Delete leftovers, and let the catalog vouch no longer for what is missing or miscounted: it is made again.

    A store that cannot be read is condemned; one broken store costs the other nothing.
    """
    for store in StoreName:
        try:
            _sweep(caches, store)
        except StoreError as error:
            caches.condemn(store, str(error))


def _sweep(caches: Caches, store: StoreName) -> None:
    difference = find_disagreement(caches, store)
    if difference.is_empty:
        return
    wrong = difference.missing | difference.miscounted
    with caches.catalog.transaction():
        caches.catalog.set_digests(store, {key: None for key, _ in wrong})
    opened = caches.store(store)
    if opened is not None:
        opened.delete(difference.leftovers | difference.miscounted)
