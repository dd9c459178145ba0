"""Vectors are filled in for what is pending: each text once, and no note loses its place meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import pytest

from tests.worlds import World
from vaultmem.embedding.calibration import calibration_key
from vaultmem.errors import EmbedderError
from vaultmem.events import Filled, Progress
from vaultmem.files.vault import Vault
from vaultmem.stores.caches import Caches, StoreName
from vaultmem.sync import dense, lexical
from vaultmem.sync.dense import (
    FIRST_ROUND_TEXTS,
    MOST_ROUND_TEXTS,
    ROUND_S,
    Pace,
    dense_rules,
    fill_all,
    forget_damaged_calibration,
    kept_calibration,
    texts_of,
)
from vaultmem.testing import HashingEmbedder

EMBEDDER = HashingEmbedder(size=8)


@pytest.fixture
def filled(vault: Vault, caches: Caches) -> Callable[..., Filled]:
    """Sync, and fill in what is pending."""

    def fill(embedder: HashingEmbedder, **options: Any) -> Filled:
        lexical.sync(caches, vault)
        return fill_all(lambda: nullcontext(caches), vault, embedder, **options)

    return fill


def held(caches: Caches) -> set[tuple[int, str]]:
    assert caches.dense is not None
    return set(caches.dense.versions())


def vouched(caches: Caches) -> set[tuple[int, str]]:
    return set(caches.catalog.versions(StoreName.DENSE).items())


# --- pace


def test_a_round_is_as_many_texts_as_take_its_time() -> None:
    pace = Pace()
    assert pace.round_texts == FIRST_ROUND_TEXTS
    pace.add(10, 1.0)
    pace.add(10, 1.0)
    assert pace.round_texts == int(10 * ROUND_S)
    pace.add(0, 10_000.0)
    assert pace.round_texts == FIRST_ROUND_TEXTS
    fast = Pace()
    fast.add(1, 0.0)
    assert fast.round_texts == MOST_ROUND_TEXTS


def test_what_is_left_is_estimated_once_a_note_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    pace = Pace(started=100.0)
    monkeypatch.setattr(dense.time, "monotonic", lambda: 106.0)
    assert pace.seconds_left(0, 9) is None
    assert pace.seconds_left(3, 9) == 12.0
    assert pace.seconds_left(9, 9) == 0.0


# --- filling


def test_what_is_pending_is_embedded_and_the_catalog_vouches_for_it(
    world: World, caches: Caches, filled: Callable[..., Filled]
) -> None:
    for name in ("a", "b"):
        world.note(f"{name}.md", name, f"alpha {name}\n")
    embedder, told = HashingEmbedder(size=8), list[Progress]()
    assert filled(embedder, on_progress=told.append) == Filled(notes=2, chunks_embedded=4)
    assert held(caches) == vouched(caches) and len(held(caches)) == 2
    assert caches.catalog.pending_count() == 0
    assert (told[-1].done, told[-1].total) == (2, 2)
    calls = len(embedder.calls)
    assert filled(embedder) == Filled()
    assert len(embedder.calls) == calls


def test_an_edit_leaves_no_row_of_the_old_text(
    world: World, caches: Caches, filled: Callable[..., Filled]
) -> None:
    world.note("a.md", "a", "alpha\n")
    filled(EMBEDDER)
    before = held(caches)
    world.note("a.md", "a", "beta\n")
    report = filled(EMBEDDER)
    assert (report.notes, report.chunks_embedded, report.chunks_reused) == (1, 1, 1)
    assert held(caches) == vouched(caches) and not held(caches) & before


def test_a_text_that_two_notes_share_is_embedded_once(world: World, filled: Callable[..., Filled]) -> None:
    for name in ("a", "b"):
        world.note(f"{name}.md", name, "the same text\n", name="Same", description="same")
    report = filled(HashingEmbedder(size=8))
    assert (report.notes, report.chunks_embedded, report.chunks_reused) == (2, 2, 2)


def test_a_note_that_changed_while_its_texts_were_embedded_comes_with_the_next_round(
    world: World, vault: Vault, caches: Caches, filled: Callable[..., Filled], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.note("a.md", "a", "alpha\n")
    world.note("b.md", "b", "beta\n")
    embed = dense._embed

    def meanwhile(*args: Any) -> Any:
        world.note("a.md", "a", "gamma and more\n")
        lexical.sync(caches, vault)
        return embed(*args)

    monkeypatch.setattr(dense, "_embed", meanwhile)
    assert filled(EMBEDDER).notes == 2
    assert held(caches) == vouched(caches)
    (row,) = (row for row in caches.catalog.rows() if row.id == "a")
    assert (row.note_key, row.digest) in held(caches)


def test_a_note_whose_file_is_not_the_one_on_record_has_no_texts(
    world: World, vault: Vault, caches: Caches
) -> None:
    file = world.note("a.md", "a", "# One\n\nalpha\n")
    lexical.sync(caches, vault)
    (row,) = caches.catalog.rows()
    work = texts_of(vault, row)
    assert work is not None
    assert [(str(t.part), t.heading, t.text) for t in work.texts] == [
        ("metadata", "", "Note a\nabout a\nt"),
        ("body", "One", "# One\n\nalpha"),
    ]
    world.note("a.md", "a", "beta\n")
    assert texts_of(vault, row) is None
    file.unlink()
    assert texts_of(vault, row) is None


def test_a_stop_between_two_calls_keeps_the_vectors_that_were_made(
    world: World, caches: Caches, filled: Callable[..., Filled], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "TEXTS_PER_CALL", 1)
    world.note("a.md", "a", "alpha\n")
    stopped = filled(EMBEDDER, should_stop=iter([False, False, True]).__next__)
    assert (stopped.notes, stopped.chunks_embedded) == (0, 1)
    assert held(caches) == set() and caches.catalog.pending_count() == 1
    rest = filled(EMBEDDER)
    assert (rest.notes, rest.chunks_embedded, rest.chunks_reused) == (1, 1, 1)


def test_a_model_that_gives_too_few_vectors_is_an_embedder_error(
    world: World, caches: Caches, filled: Callable[..., Filled]
) -> None:
    world.note("a.md", "a")
    filled(EMBEDDER)  # with it the calibration is there
    world.note("a.md", "a", "other text\n")

    class Stingy(HashingEmbedder):
        def passages(self, texts: Sequence[str]) -> Any:
            return super().passages(texts)[1:]

    with pytest.raises(EmbedderError, match="gave 0 vectors for 1 texts"):
        filled(Stingy(size=8))
    assert caches.catalog.pending_count() == 1
    assert held(caches) == vouched(caches)


def test_a_dense_store_that_turns_out_to_be_broken_is_begun_anew_once(
    world: World, vault: Vault, caches: Caches, filled: Callable[..., Filled]
) -> None:
    world.note("a.md", "a")
    filled(EMBEDDER)
    world.note("b.md", "b")
    lexical.sync(caches, vault)  # which would see the damage, were it there already
    next(world.state_dir.glob("dense-*/store.json")).write_text("{")
    caches.drop_handles()
    report = fill_all(lambda: nullcontext(caches), vault, EMBEDDER)
    assert (report.notes, report.chunks_reused) == (2, 4)  # b's vectors are those of the first attempt
    assert held(caches) == vouched(caches) and len(held(caches)) == 2


# --- calibration


def test_another_model_has_rules_of_its_own() -> None:
    assert dense_rules(EMBEDDER) == dense_rules(HashingEmbedder(size=8))
    assert dense_rules(EMBEDDER) != dense_rules(HashingEmbedder(size=8, model="other"))


def test_a_calibration_is_kept_and_one_that_is_damaged_is_computed_again(
    world: World, caches: Caches, filled: Callable[..., Filled]
) -> None:
    assert kept_calibration(caches, EMBEDDER) is None
    world.note("a.md", "a")
    filled(EMBEDDER)
    assert kept_calibration(caches, EMBEDDER) is not None
    assert caches.vectors is not None
    caches.vectors.put_calibration(calibration_key(EMBEDDER.fingerprint), b"torn")
    assert kept_calibration(caches, EMBEDDER) is None
    forget_damaged_calibration(caches, EMBEDDER)
    filled(EMBEDDER)
    assert kept_calibration(caches, EMBEDDER) is not None


# --- with an engine


def test_touching_every_note_embeds_nothing(world):
    for i in range(5):
        world.note(f"{i}.md", f"n{i}", f"text number {i}\n")
    world.sync()
    embedded = world.embedder.texts_embedded
    for file in world.root.iterdir():
        os.utime(file, (1, 1))
    assert world.sync().updated == 0
    assert world.embedder.texts_embedded == embedded


def test_a_tag_edit_embeds_the_metadata_alone(world):
    world.note("a.md", "a", "one paragraph\n")
    world.sync()
    embedded = world.embedder.texts_embedded
    world.note("a.md", "a", "one paragraph\n", tags="[other]")
    world.sync()
    assert world.embedder.texts_embedded == embedded + 1


def test_an_inserted_line_embeds_nothing_but_moves_line_numbers(world):
    world.note("a.md", "a", "# One\n\nfirst text\n\n# Two\n\nsecond text\n")
    world.sync()
    embedded = world.embedder.texts_embedded
    world.note("a.md", "a", "\n\n\n# One\n\nfirst text\n\n# Two\n\nsecond text\n")
    world.sync()
    assert world.embedder.texts_embedded == embedded
    assert world.facts() == world.rebuilt()


def test_a_failing_embedder_costs_no_note_its_place(world):
    world.note("a.md", "a", "alpha cache\n")
    world.sync()
    world.note("a.md", "a", "alpha cache order\n")
    world.embedder.is_failing = True
    with world.engine() as engine:
        with pytest.raises(EmbedderError):
            engine.sync()
        engine.parts.embedder.is_failing = False
        candidate = engine.recall("alpha cache order", min_score=0.0).candidates[0]
    assert candidate.id == "a"
    assert "order" in candidate.signals.terms
    assert candidate.signals.dense is not None


def test_text_that_an_edit_removed_stops_counting_while_the_new_text_is_pending(world):
    world.note("a.md", "a", "# One\n\n" + "gamma " * 90 + "\n\n# Two\n\n" + "delta " * 90 + "\n")
    world.sync()
    world.note("a.md", "a", "# Two\n\n" + "delta " * 90 + "\n")
    world.sync(embed=False)
    with world.engine() as engine:
        candidate = engine.recall("gamma delta", min_score=0.0).candidates[0]
    assert candidate.signals.chunks
    assert not any("gamma" in chunk.text for chunk in candidate.signals.chunks)


def test_the_newest_notes_get_their_vectors_first(world):
    for i in range(3):
        os.utime(world.note(f"{i}.md", f"n{i}", f"text {i}\n"), (i + 10, i + 10))
    world.sync(embed=False)
    with world.engine() as engine, engine.parts.access.writer() as caches:
        assert [row.id for row in caches.catalog.to_embed(10)] == ["n2", "n1", "n0"]


def test_embedding_goes_on_where_it_was_stopped(world):
    for i in range(30):
        world.note(f"{i}.md", f"n{i}", f"text number {i}\n")
    world.sync(embed=False)
    with world.engine() as engine:
        filled = engine.parts.keeper.fill(should_stop=iter([False] * 3 + [True] * 1000).__next__)
    assert 0 < filled.chunks_embedded < 60
    report = world.sync()
    assert report.embeddings_pending == 0
    assert world.facts() == world.rebuilt()


def test_another_model_means_lexical_answers_until_its_vectors_are_there(world):
    world.note("a.md", "a", "alpha cache\n")
    world.sync()
    world.embedder = HashingEmbedder(size=24, model="other")
    with world.engine() as engine:
        assert engine.recall("alpha cache").mode == "lexical"
        engine.sync()
        assert engine.recall("alpha cache").mode == "hybrid"
    assert world.facts() == world.rebuilt()


def test_reindex_reuses_every_vector(world):
    for i in range(5):
        world.note(f"{i}.md", f"n{i}", f"text {i}\n")
    world.sync()
    embedded = world.embedder.texts_embedded
    with world.engine() as engine:
        report = engine.reindex()
    assert world.embedder.texts_embedded == embedded
    assert report.chunks_reused >= 10
    assert world.facts() == world.rebuilt()
