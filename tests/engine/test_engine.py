"""The engine as a surface uses it: a memory is opened where it lies now, recall, a missing root, the end."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from tests.engine.asking import HOUR_S, hinted, open_plain, save_new
from vaultmem.engine.engine import Engine
from vaultmem.engine.keeper import Keeper
from vaultmem.errors import EngineError, NoteNotFoundError, RootMissingError
from vaultmem.notes.metadata import Status
from vaultmem.recall.scoring import Verdict

# --- opening a memory


def test_open_finds_deprecated_notes_and_no_others_by_case(world, engine):
    world.note("a.md", "a", status="deprecated")
    assert engine.open_memory("a").status is Status.DEPRECATED
    with pytest.raises(NoteNotFoundError):
        engine.open_memory("A")


def test_open_finds_a_note_that_moved_since_the_last_look(world, settled):
    (world.root / "2027").mkdir()
    (world.root / "a.md").rename(world.root / "2027/elsewhere.md")
    assert settled.open_memory("a").path == "2027/elsewhere.md"


def test_open_finds_a_note_that_was_written_since_the_last_look(world, settled):
    world.note("new.md", "new")
    assert settled.open_memory("new").path == "new.md"


def test_open_does_not_answer_with_a_note_that_has_another_id_by_now(world, settled):
    world.note("a.md", "renamed")
    with pytest.raises(NoteNotFoundError):
        settled.open_memory("a")
    assert settled.open_memory("renamed").path == "a.md"


def test_open_does_not_answer_with_a_note_that_is_gone(world, settled):
    (world.root / "a.md").unlink()
    with pytest.raises(NoteNotFoundError):
        settled.open_memory("a")


def test_open_sees_that_a_conflict_was_resolved_since_the_last_look(world, engine):
    world.note("a.md", "same")
    other = world.note("b.md", "same")
    with open_plain(world, look_every_s=HOUR_S) as settled:
        settled.sync()
        other.unlink()
        assert settled.open_memory("same").path == "a.md"


def test_two_notes_that_swapped_their_paths_are_each_found_by_id(world, settled):
    a, b = world.root / "a.md", world.root / "b.md"
    a.rename(world.root / "c.tmp")
    b.rename(a)
    (world.root / "c.tmp").rename(b)
    assert (settled.open_memory("a").path, settled.open_memory("b").path) == ("b.md", "a.md")


# --- recall


@pytest.mark.parametrize("limit", [0, -1])
def test_no_hints_are_given_where_none_are_wanted(settled, limit):
    recall = settled.recall("alpha", limit=limit, min_score=0.0)
    assert recall.hints == () and [c.id for c in recall.candidates] == ["a"]


def test_a_limit_beyond_all_notes_gives_them_all(settled):
    assert len(settled.recall("alpha beta cache order", limit=10**9, min_score=0.0).hints) == 2


@pytest.mark.parametrize("query", ["", " \n", "，。！", "```"])
def test_a_query_that_says_nothing_gets_nothing(settled, query):
    assert settled.recall(query, min_score=0.0).candidates == ()


def test_suppressed_memories_are_candidates_and_no_hints(settled):
    recall = settled.recall("alpha", suppressed={"a"}, min_score=0.0)
    assert recall.hints == () and recall.candidates[0].verdict is Verdict.SUPPRESSED


# --- the root, and the engine itself


def test_a_missing_root_is_said_by_everything_that_needs_it(world, engine):
    world.note("a.md", "a", "alpha\n")
    engine.sync()
    away = world.root.rename(world.folder / "away")
    asks: list[Callable[[], object]] = [
        engine.sync,
        engine.notes,
        lambda: engine.recall("alpha"),
        lambda: engine.open_memory("a"),
        lambda: engine.search("alpha"),
        lambda: save_new(engine),
    ]
    for ask in asks:
        with pytest.raises(RootMissingError):
            ask()
    assert [str(d.code) for d in engine.diagnostics()] == ["root_missing"]
    assert engine.status().state == "root_missing"
    assert not world.root.exists()
    away.rename(world.root)
    assert hinted(engine, "alpha") == ["a"]


def test_a_closed_engine_has_let_go_of_the_lock_and_says_that_it_is_closed(world):
    engine = open_plain(world, hold=True)
    engine.sync()
    engine.close()
    assert engine.parts.access.writer_pid is None
    with pytest.raises(EngineError, match="closed"):
        engine.sync()


@pytest.mark.parametrize("verb", ["sync", "reindex", "freshen", "look_again"])
def test_a_verb_of_the_keeper_is_the_engine_s_with_its_words_and_arguments(verb):
    passed_on, own = getattr(Engine, verb), getattr(Keeper, verb)
    assert passed_on.__doc__ == own.__doc__
    assert inspect.signature(passed_on) == inspect.signature(own)
