"""Status and doctor: what is wrong is seen, named by the right check, and mended; what is not wrong is left alone."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections import namedtuple
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vaultmem.config import Config
from vaultmem.engine import doctor
from vaultmem.engine.engine import Engine
from vaultmem.errors import RootMissingError, StoreError, UsageError, WriterBusyError
from vaultmem.stores.caches import Caches, StoreName
from vaultmem.stores.dense import DenseStore
from vaultmem.stores.lexical import LexicalDoc
from vaultmem.testing import HashingEmbedder
from vaultmem.views import DoctorReport

INTEGRITY = (
    "root",
    "catalog",
    "notes_on_record",
    "lexical_agrees",
    "dense_agrees",
    "lexical_intact",
    "dense_intact",
    "dense_answers",
    "calibration",
)


def failing(report: DoctorReport) -> list[str]:
    return [check.name for check in report.checks if not check.ok]


def detail(report: DoctorReport, name: str) -> str:
    return next(check.detail for check in report.checks if check.name == name)


@pytest.fixture
def synced(world):
    """A world with three memories in both stores."""
    for name in ("a", "b", "c"):
        world.note(f"{name}.md", name, f"alpha {name}\n")
    world.sync()
    return world


def look_away(world) -> Engine:
    """An engine that believes the files to be as they were: damage alone must be seen by doctor's own checks."""
    config = Config(world.root, world.state_dir, dirty_check_s=3_600)
    return Engine.open(config=config, embedder=world.embedder)


# --- status


def test_before_the_first_sync_nothing_is_wrong_and_nothing_is_made(world):
    with world.engine() as engine:
        status = engine.status()
    assert (status.state, status.notes, status.last_scan_at) == ("never_synced", 0, None)
    assert "vaultmem sync" in status.message
    assert not world.state_dir.exists()


def test_status_tells_what_the_caches_hold(synced):
    synced.note("d.md", "d", status="deprecated")
    synced.note("e.md", "a")
    synced.note("f.md", "", name="no id")
    synced.sync()
    with synced.engine() as engine:
        status = engine.status()
    assert (status.state, status.message) == ("idle", "")
    assert (status.notes, status.admitted, status.deprecated, status.conflicts) == (6, 2, 1, 2)
    assert status.diagnostics["conflict_id"] == 2 and status.diagnostics["missing_id"] == 1
    assert (status.lexical.documents, status.dense.chunks, status.dense.pending) == (5, 10, 0)
    assert (status.dense.engine, status.dense.model) == ("hashing", "hashing")
    assert (status.writer.pid, status.writer.alive) == (None, False)
    assert status.last_scan_at is not None


def test_status_opens_no_note(synced, monkeypatch):
    with synced.engine() as engine:
        for name in ("read", "read_note", "scan"):
            monkeypatch.setattr(engine.parts.vault, name, None)
        assert engine.status().notes == 3


def test_without_vectors_status_says_why(synced):
    with Engine.open(synced.root, synced.state_dir, "none") as engine:
        dense = engine.status().dense
    assert (dense.engine, dense.pending) == ("none", 0)
    assert "words alone" in dense.note


def test_status_says_that_the_vectors_are_another_models(synced):
    synced.embedder = HashingEmbedder(size=8, model="other")
    with synced.engine() as engine:
        assert "another model" in engine.status().dense.note


@pytest.mark.parametrize("name", ["lexical", "dense"])
def test_a_torn_store_is_a_degraded_state_that_says_what_to_do(synced, name):
    next(synced.state_dir.glob(f"{name}-*/store.json")).write_text("{")
    with synced.engine() as engine:
        status = engine.status()
    assert status.state == "degraded"
    assert name in status.message and "vaultmem sync" in status.message
    assert status.notes == 3


def test_a_foreign_catalog_is_a_degraded_state(synced):
    for file in synced.state_dir.glob("catalog.sqlite*"):
        file.unlink()
    (synced.state_dir / "catalog.sqlite").write_bytes(b"no database" * 100)
    with synced.engine() as engine:
        status = engine.status()
    assert status.state == "degraded" and "vaultmem sync" in status.message


def test_a_missing_root_keeps_the_counts(synced):
    synced.root.rename(synced.folder / "away")
    with synced.engine() as engine:
        status = engine.status()
    assert (status.state, status.notes, status.diagnostics["root_missing"]) == ("root_missing", 3, 1)


# --- doctor: all well, and what is not about the caches


def test_a_fresh_vault_is_healthy_and_every_check_is_named(synced):
    with synced.engine() as engine:
        report = engine.doctor()
    assert report.healthy and report.caches_agree and report.diagnostics == ()
    names = [check.name for check in report.checks]
    assert set(INTEGRITY) <= set(names) and {"lock", "disk", "state_dir", "model", "versions"} <= set(names)
    assert "alpha" not in detail(report, "model") and "16 dimensions" in detail(report, "model")


def test_doctor_needs_no_sync_before_it(world):
    world.note("a.md", "a")
    with Engine.open(world.root, world.state_dir, "none") as engine:
        assert engine.doctor().healthy


def test_notes_that_need_attention_are_no_fault_of_the_caches(synced):
    synced.note("a.md", "a", tags="")
    with synced.engine() as engine:
        report = engine.doctor()
    assert not report.healthy and report.caches_agree
    assert [(str(d.code), d.path, d.id) for d in report.diagnostics] == [("no_tags", "a.md", "a")]
    assert report.diagnostics[0].message and report.diagnostics[0].fix


def test_info_alone_is_well(synced):
    synced.note("a.md", "a", status="deprecated")
    with synced.engine() as engine:
        report = engine.doctor()
    assert [str(d.severity) for d in report.diagnostics] == ["info"]
    assert report.healthy


@pytest.mark.parametrize(
    ("place", "said"), [("vault/March Memories/caches", "memory root"), ("vault/.caches", "vault")]
)
def test_caches_inside_what_sync_tools_copy_are_warned_of(world, place, said):
    world.state_dir = world.folder / place
    world.note("a.md", "a")
    with Engine.open(world.root, world.state_dir, "none") as engine:
        report = engine.doctor()
    assert failing(report) == ["state_dir"]
    assert said in detail(report, "state_dir") and "--state-dir" in detail(report, "state_dir")
    assert report.caches_agree and not report.healthy


def test_a_full_disk_is_warned_of(synced, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: usage(10, 9, 1_000_000))
    with synced.engine() as engine:
        report = engine.doctor()
    assert failing(report) == ["disk"] and report.caches_agree


def test_a_model_that_fails_is_named_and_does_not_keep_repair_from_mending_the_rest(synced):
    synced.embedder.is_failing = True
    drop_documents(synced, "a")
    with synced.engine() as engine:
        assert set(failing(engine.doctor())) == {"lexical_agrees", "model"}
        report = engine.doctor(repair=True)
    assert failing(report) == ["model"]
    assert report.caches_agree and not report.healthy


def test_a_missing_root_fails_what_it_must_and_nothing_is_repaired(synced):
    synced.root.rename(synced.folder / "away")
    with synced.engine() as engine:
        report = engine.doctor()
        assert "root" in failing(report) and not report.caches_agree
        assert [str(d.code) for d in report.diagnostics] == ["root_missing"]
        with pytest.raises(RootMissingError):
            engine.doctor(repair=True)
        with engine.parts.access.reader() as caches:
            assert caches.catalog.counts().notes == 3


def test_repair_needs_the_lock(synced, monkeypatch):
    monkeypatch.setattr("vaultmem.stores.access.WRITER_WAIT_S", 0.1)
    with synced.engine(hold=True), synced.engine() as beside:
        assert beside.doctor().healthy
        with pytest.raises(WriterBusyError):
            beside.doctor(repair=True)


def test_a_disagreement_that_a_writer_is_about_to_end_is_none(synced, monkeypatch):
    """The check runs while rows are there that no digest vouches for yet."""
    difference = doctor.integrity.find_disagreement
    answers = []

    def in_the_middle(caches, store):
        found = difference(caches, store)
        answers.append(store)
        is_first = answers.count(store) == 1
        return replace(found, leftovers=frozenset({(99, "digest")})) if is_first else found

    monkeypatch.setattr(doctor.integrity, "find_disagreement", in_the_middle)
    with synced.engine(hold=True) as engine:
        assert engine.doctor().healthy
    answers.clear()
    with synced.engine() as engine:  # nobody writes: what disagrees stays so
        assert failing(engine.doctor()) == ["lexical_agrees", "dense_agrees"]


# --- doctor: damage, found and mended


def with_caches(world, act: Callable[[Caches], None]) -> None:
    with world.engine() as engine, engine.parts.access.writer() as caches:
        act(caches)


def key_of(caches: Caches, note_id: str) -> int:
    (row,) = caches.catalog.rows_with_id(note_id)
    return row.note_key


def version_of(caches: Caches, note_id: str) -> tuple[int, str]:
    (row,) = caches.catalog.rows_with_id(note_id)
    return row.note_key, row.digest


def drop_documents(world, note_id: str) -> None:
    with_caches(world, lambda caches: caches.lexical.delete_keys([key_of(caches, note_id)]))


def drop_vectors(world) -> None:
    with_caches(world, lambda caches: caches.dense.delete_keys([key_of(caches, "a")]))


def drop_one_vector(world) -> None:
    def act(caches: Caches) -> None:
        rows = caches.dense.rows([key_of(caches, "a")])
        caches.dense.delete_keys([key_of(caches, "a")])
        caches.dense.add(rows[:1])

    with_caches(world, act)


def leave_documents(world) -> None:
    with_caches(world, lambda caches: caches.lexical.add([LexicalDoc(99, "old", {"alpha": 1})]))


def double_documents(world) -> None:
    def act(caches: Caches) -> None:
        caches.lexical.add([LexicalDoc(*version_of(caches, "a"), {"alpha": 2})])

    with_caches(world, act)


def leave_vectors(world) -> None:
    def act(caches: Caches) -> None:
        rows = caches.dense.rows([key_of(caches, "a")])
        caches.dense.add([replace(row, note_key=99) for row in rows])

    with_caches(world, act)


def double_vectors(world) -> None:
    with_caches(world, lambda caches: caches.dense.add(caches.dense.rows([key_of(caches, "a")])))


def forget_digests(world) -> None:
    def act(caches: Caches) -> None:
        with caches.catalog.transaction():
            caches.catalog.forget_digests(StoreName.LEXICAL)

    with_caches(world, act)


def forget_note(world) -> None:
    def act(caches: Caches) -> None:
        with caches.catalog.transaction():
            caches.catalog.delete([key_of(caches, "a")])

    with_caches(world, act)


def remember_ghost(world) -> None:
    world.note("ghost.md", "ghost")
    world.sync()
    (world.root / "ghost.md").unlink()


def record_other_bytes(world) -> None:
    """As after a restore of an old catalog whose stat values happen to fit."""

    def act(caches: Caches) -> None:
        caches.catalog._connection.execute(
            "UPDATE notes SET digest = 'x', lexical_digest = 'x' WHERE id = 'a'"
        )

    with_caches(world, act)


def damage_calibration(world) -> None:
    def act(caches: Caches) -> None:
        caches.vectors._connection.execute("UPDATE calibrations SET value = x'00'")
        caches.vectors._connection.commit()

    with_caches(world, act)


def zero_vectors(world) -> None:
    change_rows(world, lambda row: replace(row, vector=np.zeros_like(row.vector)))


def swap_texts(world) -> None:
    change_rows(world, lambda row: replace(row, text=row.text[::-1]))


def change_rows(world, change: Callable[..., object]) -> None:
    def act(caches: Caches) -> None:
        keys = list(caches.catalog.versions("dense"))
        rows = caches.dense.rows(keys)
        caches.dense.delete_keys(keys)
        caches.dense.add([change(row) for row in rows])

    with_caches(world, act)


def zero(world, pattern: str) -> None:
    """Zeros in the middle of the files, as a failing disk or a half-copied file has them."""
    files = [file for file in world.state_dir.glob(pattern) if file.stat().st_size > 64]
    assert files, pattern
    for file in files:
        data = bytearray(file.read_bytes())
        start = len(data) // 5
        data[start : start + len(data) // 2] = bytes(len(data) // 2)
        file.write_bytes(data)


def tear(world, pattern: str) -> None:
    for file in world.state_dir.glob(pattern):
        file.write_bytes(b"{")


DAMAGES: dict[str, tuple[Callable[..., None], set[str]]] = {
    "a document is missing": (lambda world: drop_documents(world, "a"), {"lexical_agrees"}),
    "a document is left over": (leave_documents, {"lexical_agrees"}),
    "a document is there twice": (double_documents, {"lexical_agrees"}),
    "no document is vouched for": (forget_digests, {"lexical_agrees"}),
    "a note's vectors are missing": (drop_vectors, {"dense_agrees"}),
    "one vector is missing": (drop_one_vector, {"dense_agrees"}),
    "vectors are left over": (leave_vectors, {"dense_agrees"}),
    "vectors are there twice": (double_vectors, {"dense_agrees"}),
    "a note is not on record": (forget_note, {"notes_on_record", "lexical_agrees", "dense_agrees"}),
    "a note on record is gone": (remember_ghost, {"notes_on_record"}),
    "other bytes are on record": (
        record_other_bytes,
        {"notes_on_record", "lexical_agrees"},
    ),
    "the calibration is damaged": (damage_calibration, {"calibration"}),
    "the lexical store is torn": (
        lambda world: tear(world, "lexical-*/meta.json"),
        {"lexical_agrees", "lexical_intact"},
    ),
    "the vectors are zeros": (zero_vectors, {"dense_intact", "dense_answers"}),
    "the texts are others": (swap_texts, {"dense_intact"}),
    "the dense store is torn": (
        lambda world: tear(world, "dense-*/store.json"),
        {"dense_agrees", "dense_intact", "dense_answers"},
    ),
    "the lexical store is gone": (
        lambda world: shutil.rmtree(next(world.state_dir.glob("lexical-*"))),
        {"lexical_agrees", "lexical_intact"},
    ),
    "the dense store is gone": (
        lambda world: shutil.rmtree(next(world.state_dir.glob("dense-*"))),
        {"dense_agrees", "dense_intact", "dense_answers"},
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_by_the_right_check_and_mended(synced, damage):
    act, checks = DAMAGES[damage]
    act(synced)
    with look_away(synced) as engine:
        engine.parts.keeper._looked_at = float(
            "inf"
        )  # no look before the answer: doctor itself has to see it
        report = engine.doctor()
        assert not report.caches_agree and not report.healthy
        assert set(failing(report)) == checks
        assert all(detail(report, name) for name in checks)
        repaired = engine.doctor(repair=True)
    assert failing(repaired) == []
    assert synced.facts() == synced.rebuilt()


@pytest.mark.parametrize("part", ["store", "idx", "term", "fast", "fieldnorm"])
def test_zeros_in_a_lexical_segment_are_found_and_mended(synced, part):
    for n in range(40):
        synced.note(f"more/{n}.md", f"more_{n}", f"alpha more {n} 缓存 {n * 7}\n")
    synced.sync()
    zero(synced, f"lexical-*/*.{part}")
    with synced.engine() as engine:
        with contextlib.suppress(StoreError):
            engine.recall("alpha 缓存 49")
        assert engine.doctor(repair=True).caches_agree
        assert [hint.id for hint in engine.recall("alpha 缓存 49", limit=1, min_score=0.0).hints] == [
            "more_7"
        ]
    assert synced.facts() == synced.rebuilt()


@pytest.mark.parametrize("pattern", ["lexical-*/*.store", "lexical-*/*.idx"])
def test_a_recall_that_meets_damage_mends_the_store_by_itself(synced, pattern):
    for n in range(40):
        synced.note(f"more/{n}.md", f"more_{n}", f"alpha more {n} 缓存 {n * 7}\n")
    synced.sync()
    zero(synced, pattern)
    with synced.engine() as engine:
        assert engine.recall("alpha 缓存 49", limit=1, min_score=0.0).hints
        assert engine.doctor().caches_agree


@pytest.mark.parametrize("store", ["lexical", "dense"])
def test_a_sync_notices_that_a_stores_files_were_deleted(synced, store):
    for file in synced.state_dir.glob("lexical-*/*" if store == "lexical" else "dense-*/*/data/*"):
        file.unlink()
    synced.sync()
    with synced.engine() as engine:
        assert engine.doctor().healthy
    assert synced.facts() == synced.rebuilt()


@pytest.mark.parametrize("old", [b"a.md", b"Note a", b"active"])
def test_text_in_the_catalog_that_cannot_be_read_makes_it_a_broken_cache(synced, old):
    file = synced.state_dir / "catalog.sqlite"
    data = file.read_bytes()
    assert old in data
    file.write_bytes(data.replace(old, b"\xbe" + old[1:]))
    with synced.engine() as engine:
        assert engine.recall("alpha", min_score=0.0).hints
        assert engine.doctor(repair=True).healthy
    assert synced.facts() == synced.rebuilt()


def test_a_folder_in_the_catalogs_place_is_replaced(synced):
    file = synced.state_dir / "catalog.sqlite"
    file.unlink()
    (file / "x").mkdir(parents=True)
    synced.sync()
    assert synced.facts() == synced.rebuilt()


def test_repair_mends_a_damaged_catalog(synced):
    file = synced.state_dir / "catalog.sqlite"
    data = bytearray(file.read_bytes())
    data[4_096 : len(data)] = b"\xa5" * (len(data) - 4_096)
    file.write_bytes(data)
    with synced.engine() as engine:
        assert engine.doctor(repair=True).healthy
    assert synced.facts() == synced.rebuilt()


def test_repair_uses_every_vector_again(synced):
    leave_vectors(synced)
    embedded = synced.embedder.texts_embedded
    tear(synced, "lexical-*/meta.json")
    tear(synced, "dense-*/store.json")
    with synced.engine() as engine:
        assert engine.doctor(repair=True).healthy
    assert synced.embedder.texts_embedded - embedded <= 2  # the questions of the check of the model


def test_vectors_that_do_not_find_themselves_are_built_again(synced, monkeypatch):
    with synced.engine() as engine:
        with monkeypatch.context() as broken:
            broken.setattr(DenseStore, "probe", lambda self: False)
            assert failing(engine.doctor()) == ["dense_answers"]
            generation = engine.parts.access
            with generation.reader() as caches:
                before = caches.generation(StoreName.DENSE)
            engine.doctor(repair=True)
        with engine.parts.access.reader() as caches:
            assert caches.generation(StoreName.DENSE) > before
        assert engine.doctor().healthy


@pytest.mark.parametrize("pattern", ["dense-*/store.json", "lexical-*/store.json"])
def test_repair_works_without_a_model(synced, pattern):
    tear(synced, pattern)
    with Engine.open(synced.root, synced.state_dir, "none") as engine:
        report = engine.doctor(repair=True)
        assert report.caches_agree, failing(report)
        assert engine.status().state == "idle"
    synced.sync()
    assert synced.facts() == synced.rebuilt()


def test_vectors_of_another_model_are_named_and_repair_fills_in_those_of_this_one(synced):
    synced.embedder = HashingEmbedder(size=8, model="other")
    with synced.engine() as engine:
        assert failing(engine.doctor()) == ["calibration"]
        assert engine.doctor(repair=True).healthy
    assert synced.facts() == synced.rebuilt()


def test_another_machines_state_dir_is_made_our_own(synced, tmp_path):
    """Copied over by a sync tool: its catalog tells of other files, other inodes, other times."""
    other = type(synced)(tmp_path / "elsewhere")
    for name in ("a", "x", "y"):
        other.note(f"{name}.md", name, f"alpha {name} there\n")
    other.sync()
    shutil.rmtree(synced.state_dir)
    shutil.copytree(other.state_dir, synced.state_dir)
    shutil.rmtree(other.root)
    synced.sync()
    assert synced.facts() == synced.rebuilt()
    with synced.engine() as engine:
        assert engine.doctor().healthy


def test_two_roots_do_not_share_a_state_dir(synced, tmp_path):
    other = type(synced)(tmp_path / "elsewhere")
    other.note("b.md", "b", "alpha\n")
    with Engine.open(other.root, synced.state_dir, synced.embedder) as engine:
        for ask in (engine.sync, lambda: engine.recall("alpha"), lambda: engine.open_memory("a")):
            with pytest.raises(UsageError, match="belongs to the memory root"):
                ask()
    synced.root.rename(tmp_path / "moved")  # it is no longer there: these are the caches of a root that moved
    with Engine.open(other.root, synced.state_dir, synced.embedder) as engine:
        assert engine.sync().admitted == 1


# --- notes that cannot be read


def test_a_note_that_cannot_be_read_is_a_finding_and_no_disagreement(synced):
    (synced.root / "a.md").write_text("---\nid: a\nnever closed\n")
    os.utime(synced.root / "a.md", (1, 1))
    synced.sync()
    with synced.engine() as engine:
        report = engine.doctor()
        assert report.caches_agree and [str(d.code) for d in report.diagnostics] == ["bad_yaml"]
        engine.reindex()
        assert engine.doctor().caches_agree
        assert engine.doctor(repair=True).caches_agree


def test_a_note_whose_name_is_not_utf8_is_told_of(world):
    world.note("a.md", "a")
    Path(os.fsdecode(os.fsencode(world.root) + b"/caf\xe9.md")).write_text("---\nid: lost\n---\n")
    with Engine.open(world.root, world.state_dir, "none") as engine:
        report = engine.doctor()
        assert [(str(d.code), d.path) for d in report.diagnostics] == [("unreadable", "caf\\xe9.md")]
        assert report.caches_agree
        assert engine.sync().changed == 0
