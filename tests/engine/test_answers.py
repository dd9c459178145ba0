"""Answers from the caches: a hint is checked as it leaves, and memories that say the same are named."""

from __future__ import annotations

import pytest

from tests.engine.asking import HOUR_S, hinted, open_plain, verdicts
from vaultmem.recall.scoring import Verdict

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
