"""The background's embedding: vectors are filled in behind, and nobody waits for them."""

from __future__ import annotations

import threading

from tests.engine.following import following, wait_until
from vaultmem.engine import background
from vaultmem.engine.engine import Engine
from vaultmem.events import EmbeddingProgress, EngineFailed, EngineRecovered


def test_vectors_are_filled_in_behind_with_progress(world):
    world.sync()  # calibrates
    for n in range(20):
        world.note(f"{n}.md", f"n{n}", f"alpha {n}\n")
    with following(world, embedder=world.embedder, ready=False) as watched:
        wait_until(lambda: watched.told(EmbeddingProgress))
        wait_until(lambda: watched.engine.status().dense.pending == 0)
        wait_until(lambda: watched.engine.status().state == "idle")
        progress = watched.told(EmbeddingProgress)
        assert progress[-1].done == progress[-1].total == 20
        assert watched.engine.recall("alpha", min_score=0.0).mode == "hybrid"
        world.note("new.md", "new", "gamma\n")
        wait_until(lambda: pending_of(watched.engine) == {"new.md": False})
    assert world.facts() == world.rebuilt()


def pending_of(engine: Engine) -> dict[str, bool]:
    with engine.parts.access.reader() as caches:
        row = caches.catalog.row_at("new.md")
        return {} if row is None else {row.path: row.is_pending}


def test_words_answer_while_vectors_are_still_being_made(world):
    world.sync()  # calibrates
    held, passages = threading.Event(), world.embedder.passages

    class Held(type(world.embedder)):
        def passages(self, texts):
            held.wait(60)
            return passages(texts)

    for n in range(10):
        world.note(f"{n}.md", f"n{n}", f"alpha {n}\n")
    with following(world, embedder=Held(size=16), ready=False) as watched:

        def answers() -> bool:
            hints = watched.engine.recall("alpha 3", limit=3, min_score=0.0).hints
            return "n3" in [hint.id for hint in hints]

        try:
            wait_until(answers)
            assert watched.engine.status().dense.pending
        finally:
            held.set()


def test_a_sync_that_is_asked_for_while_vectors_are_made_comes_to_its_end(world):
    world.sync()  # calibrates
    world.embedder.delay_s = 0.02
    for n in range(30):
        world.note(f"{n}.md", f"n{n}", f"alpha {n}\n")
    with following(world, embedder=world.embedder, ready=False) as watched:
        wait_until(lambda: watched.told(EmbeddingProgress))
        assert watched.engine.sync().embeddings_pending == 0


def test_an_edit_of_the_background_engine_is_embedded_without_waiting_for_a_scan(world):
    world.note("a.md", "a")
    with following(world, embedder=world.embedder) as watched:
        wait_until(lambda: watched.engine.status().dense.pending == 0)
        watched.engine.save(id="a", body="entirely new words\n")
        wait_until(lambda: watched.engine.status().dense.pending == 0)
        assert "a" in [c.id for c in watched.engine.recall("entirely new words", min_score=0.0).candidates]


def test_a_failing_embedder_is_told_once_and_costs_no_answer_and_recovers(world, monkeypatch):
    monkeypatch.setattr(background, "EMBED_RETRY_S", 0.05)
    world.note("a.md", "a", "alpha cache\n")
    world.embedder.is_failing = True
    with following(world, embedder=world.embedder, ready=False) as watched:
        wait_until(lambda: watched.told(EngineFailed))
        wait_until(lambda: watched.engine.status().state == "degraded")
        world.note("b.md", "b", "beta\n")
        watched.wait_for({"a.md": "a", "b.md": "b"})
        assert [h.id for h in watched.engine.recall("alpha cache", min_score=0.0).hints] == ["a"]
        assert watched.told(EngineRecovered) == []
        assert len(watched.told(EngineFailed)) == 1
        world.embedder.is_failing = False
        wait_until(lambda: watched.told(EngineRecovered))
        wait_until(lambda: watched.engine.status().dense.pending == 0)
        wait_until(lambda: watched.engine.status().state == "idle")


def test_an_unexpected_error_in_the_embedder_is_told_and_tried_again(world, monkeypatch, caplog):
    monkeypatch.setattr(background, "EMBED_RETRY_S", 0.05)
    world.note("a.md", "a")
    passages, errors = world.embedder.passages, [ZeroDivisionError("a bug in a model")]

    class Fragile(type(world.embedder)):
        def passages(self, texts):
            if errors:
                raise errors.pop()
            return passages(texts)

    with following(world, embedder=Fragile(size=16), ready=False) as watched:
        wait_until(lambda: watched.told(EngineRecovered))
        wait_until(lambda: watched.engine.status().dense.pending == 0)


def test_closing_ends_embedding_within_one_call_and_it_goes_on_later(world):
    world.sync()  # calibrates
    for n in range(40):
        world.note(f"{n}.md", f"n{n}", f"text number {n}\n")
    world.embedder.delay_s = 0.02
    with following(world, embedder=world.embedder, ready=False) as watched:
        wait_until(lambda: watched.told(EmbeddingProgress))
    made = world.embedder.texts_embedded
    world.embedder.delay_s = 0.0
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("vaultmem-")]
    report = world.sync()
    assert report.embeddings_pending == 0
    assert report.chunks_embedded < 80, f"{made} texts were embedded for nothing"
