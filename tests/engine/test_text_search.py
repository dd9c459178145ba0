"""Text search with caches and without finds the same lines, and refuses the same questions."""

from __future__ import annotations

import pytest

from tests.engine.asking import HOUR_S, open_plain
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


# --- through the engine


def test_search_sees_active_unconflicted_notes_with_an_id_unless_it_is_told_to_see_all(world, engine):
    world.note("ok.md", "ok", "needle\n")
    world.note("old.md", "old", "needle\n", status="deprecated")
    world.note("none.md", "", "needle\n")
    world.note("c1.md", "same", "needle\n")
    world.note("c2.md", "same", "needle\n")
    world.write("broken.md", "---\nid: [\n---\nneedle\n")
    assert [match.id for match in engine.search("needle").matches] == ["ok"]
    found = engine.search("needle", include_all=True).matches
    assert len(found) == 6
    assert {match.id for match in found} == {"ok", "old", None, "same"}


def test_search_reads_the_notes_and_not_the_caches(world, settled):
    world.note("a.md", "a", "fresh words\n")
    assert [match.path for match in settled.search("fresh words").matches] == ["a.md"]
    world.note("a.md", "a", "fresh words\n", status="deprecated")
    assert settled.search("fresh words").matches == ()


def test_a_copy_that_is_gone_hides_nothing_from_search(world):
    world.note("a.md", "same", "needle\n")
    copy = world.note("b.md", "same", "needle\n")
    with open_plain(world, look_every_s=HOUR_S) as engine:
        engine.sync()
        assert engine.search("needle").matches == ()
        copy.unlink()
        assert [match.path for match in engine.search("needle").matches] == ["a.md"]


def test_search_tells_lines_and_their_surroundings(world, engine):
    world.note("a.md", "a", "one\ntwo needle\nthree\n")
    (match,) = engine.search("two needle", fixed=True).matches
    assert (match.text, match.before[-1], match.after[0]) == ("two needle", "one", "three")
    assert (world.root / "a.md").read_text().splitlines()[match.line - 1] == "two needle"


def test_a_search_that_says_nothing_or_wants_nothing_is_wrong_usage(world, engine):
    world.note("a.md", "a")
    for pattern, limit in (("", 5), ("  ", 5), ("x", 0), ("x", -1), ("(", 5)):
        with pytest.raises(UsageError):
            engine.search(pattern, limit=limit)
