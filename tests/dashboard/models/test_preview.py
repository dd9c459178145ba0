"""A preview says which of its candidates are listed, and which of them is the best."""

from __future__ import annotations

import pytest

from tui.models.preview import Preview, Settings
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file


def preview(prompt: str, **settings: object) -> Preview:
    engine = FakeEngine(
        {
            "old.md": note_file("Redis queue cache", id="mem_old", description="cache", status="deprecated"),
            "far.md": note_file("A cache", id="mem_far", description="of another kind"),
            "near.md": note_file("Redis cache", id="mem_near", description="redis queue cache"),
        }
    )
    asked = Settings(**settings)  # type: ignore[arg-type]
    recall = engine.recall(prompt, limit=asked.limit, min_score=asked.min_score)
    return Preview.of(recall, asked, 0.004)


def test_all_candidates_are_listed_or_the_hints_alone():
    shown = preview("redis queue cache", min_score=0.3)
    paths = [each.path for each in shown.candidates]
    assert paths == ["near.md", "old.md", "far.md"]
    assert shown.shown(hints_alone=False) == [0, 1, 2]
    assert shown.shown(hints_alone=True) == [0]


@pytest.mark.parametrize(("min_score", "best"), [(0.3, "near.md"), (0.99, "near.md")])
def test_the_best_is_the_first_hint_or_else_the_nearest(min_score, best):
    answered = preview("redis queue cache", min_score=min_score)
    assert answered.best(answered.shown(hints_alone=False)) == best


def test_a_deprecated_note_that_is_nearest_is_not_the_best():
    answered = preview("redis queue", min_score=0.1)
    listed = sorted(
        answered.shown(hints_alone=False), key=lambda at: answered.candidates[at].path == "near.md"
    )
    assert answered.best(listed) == "near.md"


def test_nothing_is_the_best_of_nothing():
    answered = preview("zebra")
    assert answered.best(answered.shown(hints_alone=False)) is None
    assert answered.block() == ""


def test_the_settings_after_a_user_turn_know_what_was_given():
    answered = preview("redis queue cache", min_score=0.3)
    assert answered.told == "1 hint · 3 memories considered · hybrid · 4 ms"
    assert [hint.id for hint in answered.hints] == ["mem_near"]
