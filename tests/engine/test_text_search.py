"""Text search with caches and without finds the same lines, and refuses the same questions."""

from __future__ import annotations

import pytest

from vaultmem.engine.text_search import copies_unindexed, open_unindexed, search_unindexed
from vaultmem.errors import ConflictError, NoteNotFoundError, UsageError


@pytest.fixture
def told(world):
    """A vault with each kind of note that a text search must leave out, and what it may show."""
    world.note("a.md", "a", "a needle\n")
    world.note("old.md", "old", "an old needle\n", status="deprecated")
    world.write("none.md", "no block, but a needle\n")
    world.note("one.md", "twice", "one needle\n")
    world.note("two.md", "twice", "two needles\n")
    world.sync()
    return world


def test_both_searches_show_active_notes_whose_id_is_their_own(told):
    with told.engine() as engine:
        with_caches = engine.search("needle")
    assert [(match.id, match.path) for match in with_caches.matches] == [("a", "a.md")]
    assert search_unindexed(told.root, "needle", limit=20) == with_caches


@pytest.mark.parametrize("limit", [0, -1])
def test_both_searches_refuse_a_limit_below_one(told, limit):
    with told.engine() as engine, pytest.raises(UsageError, match="too small"):
        engine.search("needle", limit=limit)
    with pytest.raises(UsageError, match="too small"):
        search_unindexed(told.root, "needle", limit=limit)


def test_a_memory_is_opened_without_caches_by_the_line_of_its_id(told):
    assert open_unindexed(told.root, " a ").body == "a needle\n"
    with pytest.raises(NoteNotFoundError):
        open_unindexed(told.root, "b")


def test_notes_that_share_an_id_are_told_apart_without_caches(told):
    with pytest.raises(ConflictError) as refused:
        open_unindexed(told.root, "twice")
    assert refused.value.paths == ("one.md", "two.md")
    assert [copy.path for copy in copies_unindexed(told.root, "twice")] == ["one.md", "two.md"]
