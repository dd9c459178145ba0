"""Damaged caches are mended by whatever meets them: a sync, a question, a rebuild."""

from __future__ import annotations

import shutil

import pytest

from tests.engine.asking import hinted, open_plain
from tests.engine.damage import drop_documents, zero
from vaultmem.engine.engine import Engine
from vaultmem.errors import StoreError, UsageError
from vaultmem.stores.lexical import LexicalStore


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


# --- what recall meets


def test_zeros_at_the_head_of_the_terms_are_mended_by_the_question_that_meets_them(synced):
    """Seen: recall dead, and sync, doctor and its repair all content."""
    for file in synced.state_dir.glob("lexical-*/*.term"):
        with file.open("r+b") as opened:
            opened.write(bytes(8))
    said = []
    with synced.engine() as engine:
        engine.subscribe(said.append)
        assert len(hinted(engine, "alpha")) == 3
        assert any("lexical store was damaged" in event.message for event in said)
        engine.sync()
    assert synced.facts() == synced.rebuilt()


@pytest.mark.parametrize("text", [b"a.md", b"Note a", b"about a"])
def test_any_question_that_meets_a_damaged_catalog_has_it_made_anew(synced, text):
    file = synced.state_dir / "catalog.sqlite"
    for ask in (
        lambda engine: [note.path for note in engine.notes()],
        lambda engine: sorted(hinted(engine, "alpha")),
        lambda engine: [match.path for match in engine.search("alpha").matches],
        lambda engine: engine.open_memory("a").path,
        lambda engine: dict(engine.tags()),
    ):
        with synced.engine() as engine:
            expected = ask(engine)
        file.write_bytes(file.read_bytes().replace(text, text[:-1] + b"~"))
        with synced.engine() as engine:
            engine.parts.keeper._looked_at = float("inf")
            assert ask(engine) == expected
        synced.sync()


@pytest.mark.parametrize(("store", "mode"), [("lexical", "dense"), ("dense", "lexical")])
def test_beside_a_writer_that_stays_a_broken_store_is_done_without_and_it_is_said(synced, store, mode):
    with synced.engine(hold=True), synced.engine() as beside:
        next(synced.state_dir.glob(f"{store}-*/store.json")).write_text("{")
        found = beside.recall("alpha", min_score=0.0)
        assert (found.mode.value, len(found.hints)) == (mode, 3)
        assert f"the {store} store cannot be read" in found.trouble


def test_what_an_answer_meets_broken_is_condemned_whatever_the_look_at_the_store_says(synced, monkeypatch):
    with synced.engine() as engine:
        with engine.parts.access.reader() as caches:
            before = caches.generation("lexical")
        search = LexicalStore.search

        def broken(self, *arguments):
            if self._folder.name == f"lexical-{before}":
                raise StoreError("it panics", store="lexical")
            return search(self, *arguments)

        monkeypatch.setattr(LexicalStore, "search", broken)
        monkeypatch.setattr(LexicalStore, "verify", lambda _: None)
        assert len(hinted(engine, "alpha")) == 3


def test_a_note_that_a_store_has_lost_is_not_left_out_without_a_word(synced):
    drop_documents(synced, "a")  # by our own doing: no file betrays it
    with synced.engine() as engine:
        engine.parts.keeper._looked_at = float("inf")
        assert sorted(hinted(engine, "alpha")) == ["a", "b", "c"]


def test_damaged_vectors_that_are_kept_are_embedded_again(synced):
    zero(synced, "vectors.sqlite")
    synced.note("d.md", "d", "alpha d\n")
    synced.sync()
    with synced.engine() as engine:
        assert engine.doctor().healthy
    assert synced.facts() == synced.rebuilt()


def test_recall_says_when_vectors_are_missing(synced):
    shutil.rmtree(next(synced.state_dir.glob("dense-*")))
    synced.sync(embed=False)
    with synced.engine() as engine:
        assert "words alone" in engine.recall("alpha").trouble
        engine.sync()
        assert engine.recall("alpha").trouble == ""
        synced.note("d.md", "d", "alpha d\n")
        engine.sync(embed=False)
        assert engine.recall("alpha").trouble == "notes without vectors yet, found by words alone: 1"


def test_a_copy_of_the_state_dir_is_no_damage(synced):
    copy = synced.folder / "copy"
    shutil.copytree(synced.state_dir, copy, copy_function=shutil.copy)  # other times, other inodes
    shutil.rmtree(synced.state_dir)
    copy.rename(synced.state_dir)
    said = []
    with synced.engine() as engine:
        engine.subscribe(said.append)
        engine.sync()
        with engine.parts.access.reader() as caches:
            assert (caches.generation("lexical"), caches.generation("dense")) == (1, 1)
    assert said == []
    assert synced.facts() == synced.rebuilt()
