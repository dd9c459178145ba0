"""The state dir, opened: which generation of a store lives, and what a writer puts in the place of what is broken."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.stores.records import record, write
from vaultmem.errors import EngineError, StoreError
from vaultmem.stores import caches as caches_module
from vaultmem.stores.caches import CONDEMNED, OUTDATED, Caches, StoreName
from vaultmem.stores.lexical_documents import LexicalDoc

DOC = LexicalDoc(1, "aa", {"alpha": 1})


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Caches]]:
    """Open one state dir, for writing or for reading; all are closed in the end."""
    made: list[Caches] = []

    def another(*, writable: bool = True) -> Caches:
        made.append(Caches(tmp_path / "state", writable=writable))
        return made[-1]

    yield another
    for one in made:
        one.close()


@pytest.fixture
def caches(opened) -> Caches:
    return opened()


def folders(caches: Caches) -> set[str]:
    return {path.name for path in caches.state_dir.iterdir() if path.is_dir()}


# --- opening


def test_a_writer_makes_a_state_dir_for_this_user_alone(caches) -> None:
    assert stat.S_IMODE(caches.state_dir.stat().st_mode) == 0o700


def test_a_reader_of_nothing_is_refused(opened) -> None:
    with pytest.raises(StoreError):
        opened(writable=False)


def test_stores_that_were_never_begun_are_none(opened) -> None:
    for one in (opened(), opened(writable=False)):
        assert [one.store(name) for name in StoreName] == [None, None]
        assert [one.generation(name) for name in StoreName] == [0, 0]
        assert [one.made_with(name) for name in StoreName] == [None, None]


def test_in_a_child_that_was_forked_after_lancedb_was_loaded_nothing_is_opened(opened, monkeypatch) -> None:
    monkeypatch.setattr(caches_module, "_was_forked_after_lancedb", True)
    with pytest.raises(EngineError, match="forked"):
        opened()


# --- generations


def test_what_is_begun_lives_and_everything_is_pending_in_it(caches) -> None:
    (key,) = write(caches.catalog, record("a.md"))
    with caches.catalog.transaction():
        caches.catalog.set_digests("dense", {key: "digest of a.md"})
    assert caches.catalog.counts().pending == 0
    caches.begin(StoreName.DENSE, "rules", dimension=4)
    assert (caches.generation(StoreName.DENSE), caches.made_with(StoreName.DENSE)) == (1, "rules")
    assert caches.dense is not None and caches.dense.count() == 0
    assert caches.catalog.counts().pending == 1
    caches.begin(StoreName.DENSE, "other rules", dimension=8)
    assert (caches.generation(StoreName.DENSE), caches.made_with(StoreName.DENSE)) == (2, "other rules")


def test_a_reader_goes_over_to_the_generation_that_lives(caches, opened) -> None:
    reader = opened(writable=False)
    caches.begin(StoreName.LEXICAL, "rules")
    caches.lexical.add([DOC])
    assert reader.lexical.count() == 1
    caches.begin(StoreName.LEXICAL, "rules")
    assert reader.lexical.count() == 0


def test_one_that_is_condemned_is_empty_and_one_that_is_outdated_answers(caches) -> None:
    caches.begin(StoreName.LEXICAL, "rules")
    caches.lexical.add([DOC])
    caches.outdate(StoreName.LEXICAL)
    assert (caches.made_with(StoreName.LEXICAL), caches.lexical.count()) == (OUTDATED, 1)
    caches.condemn(StoreName.LEXICAL, "torn")
    assert (caches.made_with(StoreName.LEXICAL), caches.lexical.count()) == (CONDEMNED, 0)


def test_what_is_filled_beside_the_live_one_lives_when_it_is_switched_to(caches) -> None:
    caches.begin(StoreName.LEXICAL, "rules")
    (key,) = write(caches.catalog, record("a.md"))
    with caches.next_lexical("new rules") as (store, following):
        store.add([LexicalDoc(key, "aa", {"alpha": 1})])
        assert caches.lexical.count() == 0
        with caches.catalog.transaction():
            following.switch({key: "aa"})
    assert (caches.made_with(StoreName.LEXICAL), caches.lexical.count()) == ("new rules", 1)
    assert caches.catalog.versions(StoreName.LEXICAL) == {key: "aa"}


def test_one_that_was_not_switched_to_is_begun_again_the_next_time(caches) -> None:
    caches.begin(StoreName.LEXICAL, "rules")
    with pytest.raises(InterruptedError), caches.next_lexical("new rules") as (store, _):
        store.add([DOC])
        raise InterruptedError
    assert caches.made_with(StoreName.LEXICAL) == "rules"
    with caches.next_lexical("new rules") as (store, _):
        assert store.count() == 0


def test_sweeping_leaves_the_live_generations_alone(caches) -> None:
    for _ in range(3):
        caches.begin(StoreName.LEXICAL, "rules")
        caches.begin(StoreName.DENSE, "rules", dimension=4)
    assert folders(caches) == {f"{name}-{n}" for name in StoreName for n in (1, 2, 3)}
    caches.sweep_folders()
    assert folders(caches) == {"lexical-3", "dense-3"}
    assert caches.lexical is not None and caches.dense is not None


def test_sweeping_leaves_folders_of_others_alone(caches) -> None:
    caches.begin(StoreName.LEXICAL, "rules")
    for name in ("dense-notes", "lexical-2024-old", "dense-"):
        (caches.state_dir / name).mkdir()
    caches.sweep_folders()
    assert folders(caches) == {"lexical-1", "dense-notes", "lexical-2024-old", "dense-"}


# --- what is broken


def test_a_catalog_that_cannot_be_used_is_replaced_by_a_writer_alone(caches, opened) -> None:
    caches.close()
    file = caches.state_dir / "catalog.sqlite"
    file.write_bytes(b"no database" * 100)
    with pytest.raises(StoreError):
        opened(writable=False)
    assert file.read_bytes() == b"no database" * 100
    assert opened().catalog.rows() == []


def test_a_new_catalog_knows_of_no_note_and_the_vectors_stay(caches) -> None:
    write(caches.catalog, record("a.md"))
    caches.begin(StoreName.LEXICAL, "rules")
    caches.vectors.put("model", {"h": np.ones(4, np.float32)}, 0.0)
    caches.replace_catalog()
    assert caches.catalog.rows() == [] and caches.lexical is None
    assert caches.vectors.count() == 1


def test_vectors_that_cannot_be_used_are_begun_anew_by_a_writer_and_missing_for_a_reader(opened) -> None:
    writer, reader = opened(), opened(writable=False)
    assert reader.vectors is None
    file = writer.state_dir / "vectors.sqlite"
    file.write_bytes(b"no database" * 100)
    assert reader.vectors is None
    assert writer.vectors is not None and writer.vectors.count() == 0
    assert reader.vectors is not None


def test_a_torn_store_is_a_store_error_until_it_is_condemned(caches) -> None:
    caches.begin(StoreName.DENSE, "rules", dimension=4)
    (caches.folder(StoreName.DENSE, 1) / "store.json").write_text("{")
    with pytest.raises(StoreError):
        _ = caches.dense
    caches.condemn(StoreName.DENSE, "torn")
    assert caches.dense is not None and caches.dense.count() == 0


# --- seals


def test_the_catalog_is_looked_at_whole_only_when_its_file_is_another(opened, monkeypatch) -> None:
    opened().close()
    looked: list[int] = []
    sound = caches_module.Catalog.is_sound
    monkeypatch.setattr(caches_module.Catalog, "is_sound", lambda catalog: looked.append(1) or sound(catalog))
    first = opened()
    first.check_catalog()
    assert looked == []
    first.close()
    file = first.state_dir / "catalog.sqlite"
    file.write_bytes(file.read_bytes())
    opened().check_catalog()
    assert looked == [1]


def test_a_catalog_that_was_damaged_is_not_believed_after_a_writer_closed_it(opened) -> None:
    first = opened()
    with first.catalog.transaction():
        first.catalog.set_meta("fact", "kept fact")
    first.close()
    file = first.state_dir / "catalog.sqlite"
    file.write_bytes(file.read_bytes().replace(b"kept fact", b"kept fAct"))
    opened().close()
    with pytest.raises(StoreError, match="damaged"):
        opened().check_catalog()


def test_while_a_child_builds_nobody_vouches_for_the_dense_store(caches, monkeypatch) -> None:
    caches.begin(StoreName.DENSE, "rules", dimension=4)
    assert caches.dense is not None
    with monkeypatch.context() as building:
        building.setattr(type(caches.dense), "is_building", True)
        with caches.catalog.transaction():
            caches.seal()
        assert caches.is_child_at_work and caches.tampering(StoreName.DENSE) is None
    assert not caches.is_child_at_work
    found = caches.tampering(StoreName.DENSE)
    assert found is not None and found.is_none


# --- what fails for the moment


def _keep_a_vector(caches: Caches) -> None:
    assert caches.vectors is not None
    caches.vectors.put("model", {"aa": np.ones(2, dtype=np.float32)}, 0.0)


def test_on_a_full_disk_nothing_is_thrown_away(opened, monkeypatch: pytest.MonkeyPatch) -> None:
    caches = opened()
    _keep_a_vector(caches)
    caches.begin(StoreName.LEXICAL, "rules")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    for throw_away in (
        caches.replace_catalog,
        lambda: caches.condemn(StoreName.LEXICAL, "it stumbled"),
        lambda: caches.replace_vectors(StoreError("it stumbled")),
    ):
        with pytest.raises(StoreError, match="full") as refused:
            throw_away()
        assert "no room left" in refused.value.advice
    assert caches.condemned == []
    assert caches.generation(StoreName.LEXICAL) == 1 and caches.vectors.count() == 1


def test_a_catalog_that_cannot_be_opened_on_a_full_disk_is_kept(
    opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches = opened()
    file = caches.state_dir / "catalog.sqlite"
    caches.close()
    file.write_bytes(b"not to be told from whole" * 100)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(StoreError, match="full"):
        opened()
    assert file.read_bytes() == b"not to be told from whole" * 100


def test_vectors_that_another_program_is_at_are_kept(opened, monkeypatch: pytest.MonkeyPatch) -> None:
    caches = opened()
    _keep_a_vector(caches)
    busy = sqlite3.OperationalError("database is locked")
    monkeypatch.setattr(busy, "sqlite_errorcode", sqlite3.SQLITE_BUSY, raising=False)
    met = StoreError("the vector cache cannot be used", store="vectors")
    met.__cause__ = busy
    with pytest.raises(StoreError, match="cannot be used"):
        caches.replace_vectors(met)
    assert caches.vectors.count() == 1
