"""Answers from the caches: a hint is checked as it leaves, and memories that say the same are named."""

from __future__ import annotations

import pytest

from tests.engine.asking import HOUR_S, hinted, open_plain, verdicts
from vaultmem.engine import answers
from vaultmem.errors import ConflictError, NoteNotFoundError
from vaultmem.recall.answer import Candidate, Mode, Recall
from vaultmem.recall.scoring import Signals, Verdict
from vaultmem.sync.overlay import Overlay
from vaultmem.testing import make_note
from vaultmem.views import OpenedMemory

# --- notes and diagnostics


def test_tags_are_counted_most_used_first_and_then_by_name(world, engine):
    for n, tags in enumerate(("[b, a, c]", "[c]", "[c, b, a]")):
        world.note(f"{n}.md", f"n{n}", tags=tags)
    assert list(engine.tags().items()) == [("c", 3), ("a", 2), ("b", 2)]


def test_each_note_in_conflict_is_told_who_else_has_its_id(world, engine):
    for name in ("a", "b", "c"):
        world.note(f"{name}.md", "same")
    world.note("d.md", "other")
    engine.sync()
    with engine.parts.access.reader() as caches:
        found = answers.diagnose_rows(caches.catalog.rows())
    others = {path: [d.message for d in ds if d.code == "conflict_id"] for path, ds in found.items()}
    assert others.pop("d.md") == []
    for path, (message,) in others.items():
        assert [other for other in others if other in message] == sorted(others.keys() - {path})


def test_a_memory_is_where_the_overlay_saw_it_last(world, engine):
    world.note("a.md", "a")
    world.note("b.md", "b")
    engine.sync()
    moved = Overlay({"moved.md": make_note("moved.md", id="a")}, frozenset({"a.md"}), {"a.md": "moved.md"})
    copied = Overlay({"copy.md": make_note("copy.md", id="a")})
    with engine.parts.access.reader() as caches:
        assert answers.locate(caches.catalog, Overlay(), " a ") == "a.md"
        assert answers.locate(caches.catalog, moved, "a") == "moved.md"
        with pytest.raises(NoteNotFoundError, match="'A'"):
            answers.locate(caches.catalog, moved, "A")
        with pytest.raises(ConflictError, match="2 notes") as refused:
            answers.locate(caches.catalog, copied, "a")
    assert refused.value.paths == ("a.md", "copy.md")


# --- hints


def test_a_note_that_is_gone_since_the_last_look_is_not_hinted(world, settled):
    (world.root / "a.md").unlink()
    assert hinted(settled, "alpha cache beta order") == ["b"]


def test_a_note_that_changed_since_the_last_look_is_shown_as_it_is_now(world, settled):
    world.note("a.md", "a", "alpha cache\n", name="New name", description="new words")
    (hint,) = settled.recall("alpha cache", min_score=0.0).hints
    assert (hint.name, hint.description) == ("New name", "new words")


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [({"status": "deprecated"}, Verdict.DEPRECATED), ({"description": ""}, Verdict.NO_DESCRIPTION)],
)
def test_a_note_that_may_not_be_hinted_any_more_is_not(world, settled, fields, verdict):
    world.note("a.md", "a", "alpha cache\n", **fields)
    assert verdicts(settled, "alpha cache") == {"a": verdict}


def test_a_note_that_has_another_id_by_now_is_not_hinted_under_the_old_one(world, settled):
    world.note("a.md", "other", "alpha cache\n")
    assert hinted(settled, "alpha cache") == []


def test_a_note_that_stopped_being_one_is_not_hinted(world, settled):
    world.write("a.md", "---\nid: [\n---\nalpha cache\n")
    assert hinted(settled, "alpha cache") == []


def test_the_place_of_a_hint_that_fell_away_goes_to_the_next(world):
    world.note("a.md", "a", "alpha cache cache cache\n")
    world.note("b.md", "b", "alpha cache order and much else besides\n")
    with open_plain(world, look_every_s=HOUR_S) as engine:
        engine.sync()
        assert [h.id for h in engine.recall("alpha cache", limit=1, min_score=0.0).hints] == ["a"]
        (world.root / "a.md").unlink()
        assert [h.id for h in engine.recall("alpha cache", limit=1, min_score=0.0).hints] == ["b"]


# --- memories that say the same


def test_a_save_names_memories_that_say_nearly_the_same(world):
    with world.engine() as engine:
        words = {"name": "Redis eviction policy", "description": "noeviction for queues, lru for caches"}
        first = engine.save(**words, tags=["t"], body="alpha\n")
        engine.sync()
        second = engine.save(**words, tags=["t"], body="other\n")
        assert second.similar == (first.memory.id,)
        assert engine.save(id=second.memory.id, tags=["u"]).similar == (first.memory.id,)


def found(*near: tuple[str, float, float | None], mode: Mode = Mode.HYBRID, verdict=Verdict.HINTED) -> Recall:
    """A recall whose candidates have these ids, scores and likenesses of their metadata."""
    return Recall(
        "query",
        candidates=tuple(
            Candidate(id_, score, verdict, Signals(likeness), f"{id_}.md", id_, "about", n)
            for n, (id_, score, likeness) in enumerate(near)
        ),
        mode=mode,
    )


def similar(recall: Recall) -> tuple[str, ...]:
    note = make_note(id="own")
    return answers.similar_ids(recall, OpenedMemory(note.metadata, note.path, "", "", note.digest))


def test_what_scores_or_is_alike_enough_says_the_same_and_nothing_says_the_same_as_itself():
    bar, likeness = answers.SIMILAR_SCORE, answers.SIMILAR_LIKENESS
    near = [("scores", bar, None), ("alike", 0.0, likeness), ("neither", bar - 0.01, likeness - 0.01)]
    assert similar(found(*near, ("own", 1.0, 2.0))) == ("scores", "alike")


def test_by_words_alone_a_lower_score_is_enough():
    near = ("a", answers.SIMILAR_BY_WORDS, None)
    assert similar(found(near, mode=Mode.LEXICAL)) == ("a",)
    assert similar(found(near)) == ()


def test_what_may_not_be_hinted_is_not_named_as_similar():
    assert similar(found(("a", 1.0, 2.0), verdict=Verdict.DEPRECATED)) == ()
