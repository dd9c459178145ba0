"""Whether the stores hold what the catalog says, and what is done where they do not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.stores.records import record, write
from tests.worlds import World
from vaultmem.errors import UsageError
from vaultmem.files.vault import Vault
from vaultmem.stores.caches import Caches, StoreName
from vaultmem.stores.lexical_documents import LexicalDoc
from vaultmem.sync import lexical
from vaultmem.sync.integrity import (
    Disagreement,
    broken_stores,
    changing,
    damage,
    find_disagreement,
    is_unfinished,
    mend,
    prepare,
    refuse_foreign_caches,
    rules_applied,
    set_damage_aside,
    sweep,
)

Version = tuple[int, str]
RULES = {"lexical_rules": "words", "note_rules": "notes"}


@pytest.fixture
def agreed(caches: Caches) -> Caches:
    """Two notes on record, and a lexical store that holds exactly them."""
    caches.begin(StoreName.LEXICAL, RULES["lexical_rules"])
    keys = write(caches.catalog, record("a.md", "a", digest="aa"), record("b.md", "b", digest="bb"))
    put(caches, *zip(keys, ("aa", "bb"), strict=True))
    vouch(caches, *zip(keys, ("aa", "bb"), strict=True))
    rules_applied(caches, RULES["note_rules"])
    return caches


def put(caches: Caches, *versions: Version) -> None:
    assert caches.lexical is not None
    caches.lexical.add([LexicalDoc(key, digest, {"alpha": 1}) for key, digest in versions])


def vouch(caches: Caches, *versions: Version) -> None:
    with caches.catalog.transaction():
        caches.catalog.set_digests(StoreName.LEXICAL, dict(versions))


def keys(caches: Caches) -> tuple[int, int]:
    a, b = (row.note_key for row in caches.catalog.rows())
    return a, b


def tear(caches: Caches, store: StoreName = StoreName.LEXICAL) -> None:
    (caches.folder(store, caches.generation(store)) / "store.json").write_text("{")
    caches.drop_handles()


# --- what disagrees


def test_stores_that_were_never_begun_agree_with_an_empty_catalog(caches: Caches) -> None:
    assert all(find_disagreement(caches, store).is_empty for store in StoreName)


def test_leftovers_what_is_missing_and_what_is_there_too_often_are_told_apart(agreed: Caches) -> None:
    a, b = keys(agreed)
    assert find_disagreement(agreed, StoreName.LEXICAL).is_empty
    put(agreed, (a, "aa"), (b, "old"), (99, "xx"))
    vouch(agreed, (b, "new"))
    found = find_disagreement(agreed, StoreName.LEXICAL)
    leftovers = frozenset({(b, "bb"), (b, "old"), (99, "xx")})
    assert found == Disagreement(leftovers, frozenset({(b, "new")}), frozenset({(a, "aa")}))
    assert str(found) == "3 leftover, 1 missing, 1 miscounted"


def test_a_sweep_deletes_leftovers_and_vouches_no_longer_for_what_is_wrong(agreed: Caches) -> None:
    a, b = keys(agreed)
    put(agreed, (a, "aa"), (99, "xx"))
    sweep(agreed)
    assert agreed.catalog.versions(StoreName.LEXICAL) == {b: "bb"}
    assert agreed.lexical is not None and agreed.lexical.versions() == {(b, "bb"): 1}
    assert find_disagreement(agreed, StoreName.LEXICAL).is_empty


def test_a_sweep_condemns_what_cannot_be_read(agreed: Caches) -> None:
    tear(agreed)
    sweep(agreed)
    assert agreed.lexical is not None and agreed.lexical.count() == 0
    assert agreed.catalog.versions(StoreName.LEXICAL) == {}


# --- before a sync


def test_caches_in_order_are_left_as_they_are(agreed: Caches) -> None:
    assert not prepare(agreed, **RULES)
    assert agreed.lexical is not None and agreed.lexical.count() == 2


@pytest.mark.parametrize("rules", RULES)
def test_other_rules_mean_that_every_note_is_read_again(agreed: Caches, rules: str) -> None:
    assert prepare(agreed, **{**RULES, rules: "others"})


def test_without_a_lexical_store_every_note_is_read_again(caches: Caches) -> None:
    assert prepare(caches, **RULES)


def test_with_a_torn_lexical_store_every_note_is_read_again(agreed: Caches) -> None:
    tear(agreed)
    assert prepare(agreed, **RULES)


def test_what_an_interrupted_sync_left_is_swept_by_the_next(agreed: Caches) -> None:
    a, _ = keys(agreed)
    with pytest.raises(KeyboardInterrupt), changing(agreed):
        agreed.lexical.delete([(a, "aa")])
        put(agreed, (a, "newer"))  # as many documents as before: the count alone tells nothing
        raise KeyboardInterrupt
    assert is_unfinished(agreed)
    assert not prepare(agreed, **RULES)
    assert not is_unfinished(agreed)
    assert find_disagreement(agreed, StoreName.LEXICAL).is_empty


def test_lost_rows_are_noticed_by_their_count(agreed: Caches) -> None:
    a, b = keys(agreed)
    agreed.lexical.delete([(a, "aa")])
    assert not prepare(agreed, **RULES)
    assert agreed.catalog.versions(StoreName.LEXICAL) == {b: "bb"}


# --- damage


def test_damage_is_named_and_an_empty_store_put_in_its_place(agreed: Caches) -> None:
    assert broken_stores(agreed) == [] and not set_damage_aside(agreed)
    tear(agreed)
    assert damage(agreed, StoreName.LEXICAL) and not damage(agreed, StoreName.DENSE)
    assert broken_stores(agreed) == broken_stores(agreed, by_stamp=True) == [StoreName.LEXICAL]
    assert set_damage_aside(agreed)
    assert broken_stores(agreed) == []


def test_a_store_that_reads_but_cannot_be_changed_answers_until_another_is_made(agreed: Caches) -> None:
    mend(agreed)
    assert agreed.lexical is not None and agreed.lexical.count() == 2
    assert prepare(agreed, **RULES)


def test_an_unsound_catalog_is_replaced(agreed: Caches, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(agreed.catalog), "is_sound", lambda _: False)
    assert set_damage_aside(agreed)
    assert agreed.catalog.rows() == []


# --- caches of another root


def test_the_caches_of_a_root_that_is_still_there_are_refused_to_another(
    world: World, vault: Vault, caches: Caches, tmp_path: Path
) -> None:
    other = Vault(tmp_path / "other")
    other.root.mkdir()
    refuse_foreign_caches(caches, other)  # they are nobody's yet
    lexical.sync(caches, vault)
    refuse_foreign_caches(caches, vault)
    with pytest.raises(UsageError, match="belongs to the memory root"):
        refuse_foreign_caches(caches, other)
    world.root.rename(tmp_path / "moved")
    refuse_foreign_caches(caches, Vault(tmp_path / "moved"))
    refuse_foreign_caches(caches, other)


# --- with an engine


def test_a_torn_lexical_store_is_rebuilt_by_the_next_sync(world):
    world.note("a.md", "a", "alpha cache\n")
    world.sync()
    next(world.state_dir.glob("lexical-*/meta.json")).write_text("{")
    world.sync()
    assert world.facts() == world.rebuilt()


def test_a_deleted_state_dir_costs_nothing_but_time(world):
    world.note("a.md", "a")
    world.sync()
    shutil.rmtree(world.state_dir)
    world.sync()
    assert world.facts() == world.rebuilt()


@pytest.mark.parametrize("name", ["catalog.sqlite", "vectors.sqlite"])
def test_a_foreign_file_in_the_state_dir_is_replaced(world, name: str):
    world.note("a.md", "a")
    world.sync()
    for file in world.state_dir.glob(f"{name}*"):
        file.unlink()
    (world.state_dir / name).write_bytes(b"not a database at all" * 100)
    world.sync()
    assert world.facts() == world.rebuilt()
