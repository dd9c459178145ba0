"""Damaged caches are mended by whatever meets them: a sync, a question, a rebuild."""

from __future__ import annotations

import pytest

from tests.engine.asking import hinted, open_plain


@pytest.mark.parametrize("embed", [True, False])
def test_a_torn_vector_store_stops_no_sync(world, embed):
    world.note("a.md", "a", "alpha cache\n")
    world.note("b.md", "b", "delta\n")
    world.sync()
    next(world.state_dir.glob("dense-*/store.json")).write_text("{")
    (world.root / "b.md").unlink()
    world.note("a.md", "a", "alpha cache gamma\n")
    world.sync(embed=embed)
    with world.engine() as engine:
        assert hinted(engine, "gamma") == ["a"]
        engine.sync()
    assert world.facts() == world.rebuilt()


@pytest.mark.parametrize("name", ["dense", "lexical"])
def test_reindex_gets_along_with_a_torn_store(world, name):
    world.note("a.md", "a", "alpha cache\n")
    world.sync()
    next(world.state_dir.glob(f"{name}-*/store.json")).write_text("{")
    with world.engine() as engine:
        assert engine.reindex().embeddings_pending == 0
    assert world.facts() == world.rebuilt()


def test_a_torn_store_is_mended_by_the_question_that_met_it(world):
    world.note("a.md", "a", "alpha cache\n")
    world.sync()
    next(world.state_dir.glob("lexical-*/store.json")).write_text("{")
    next(world.state_dir.glob("dense-*/store.json")).write_text("{")
    with world.engine() as engine:
        assert hinted(engine, "alpha cache") == ["a"]
        engine.sync()
    assert world.facts() == world.rebuilt()


def test_a_catalog_with_a_damaged_page_is_made_anew_by_the_next_sync(world):
    for n in range(60):
        world.note(f"{n}.md", f"n{n}", f"alpha {n}\n", description="d" * 300)
    with open_plain(world) as engine:
        engine.sync()
    file = world.state_dir / "catalog.sqlite"
    data = bytearray(file.read_bytes())
    data[8_192 : len(data) - 4_096] = b"\xa5" * (len(data) - 12_288)
    file.write_bytes(data)
    with open_plain(world) as engine:
        assert engine.sync().added == 60
        assert len(hinted(engine, "alpha")) == 9
