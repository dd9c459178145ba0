"""Doctor on damaged caches: each damage is found by the right check, and a repair mends it."""

from __future__ import annotations

import contextlib

import pytest

from tests.engine.asking import detail, failing
from tests.engine.damage import DAMAGES, leave_vectors, tear, zero
from vaultmem.config import Config
from vaultmem.engine.engine import Engine
from vaultmem.errors import StoreError
from vaultmem.stores.caches import StoreName
from vaultmem.stores.dense import DenseStore
from vaultmem.testing import HashingEmbedder


def look_away(world) -> Engine:
    """An engine that believes the files to be as they were: damage alone must be seen by doctor's own checks."""
    config = Config(world.root, world.state_dir, dirty_check_s=3_600)
    return Engine.open(config=config, embedder=world.embedder)


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
