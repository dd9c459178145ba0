"""What an engine is made of, and the verbs that it passes on."""

from __future__ import annotations

import inspect

import pytest

from vaultmem.config import Config
from vaultmem.engine.engine import Engine
from vaultmem.engine.keeper import Keeper
from vaultmem.engine.parts import Parts
from vaultmem.events import NoteEdited
from vaultmem.text.moments import utc_now


@pytest.fixture
def parts(world):
    config = Config(world.root, world.state_dir)
    made = Parts.of(config, world.embedder, hold=True, wake=lambda: None, is_scanning=lambda: False)
    yield made
    made.access.close()


def test_an_embedder_that_is_given_takes_the_place_of_the_settings(parts, world):
    assert parts.embedder is world.embedder
    assert (parts.chosen.engine, parts.chosen.reason) == ("hashing", "given by the caller")


def test_what_embeds_by_the_settings_is_told_with_its_reason(world):
    config = Config(world.root, world.state_dir).with_engine("none")
    made = Parts.of(config, hold=False, wake=lambda: None, is_scanning=lambda: False)
    assert made.embedder is None
    assert "switched off by the settings" in made.chosen.reason


def test_an_event_told_with_the_caches_is_on_record_and_one_without_is_not(parts, world):
    told = []
    parts.subscribers.subscribe(told.append)
    first, second = NoteEdited(utc_now(), "a.md", "save"), NoteEdited(utc_now(), "b.md", "save")
    with parts.access.writer() as caches:
        parts.subscribers.tell(first, caches)
        parts.subscribers.tell(second)
    parts.access.close()
    with world.engine() as engine:
        assert told == [first, second]
        assert engine.activity() == (first,)


def test_a_keeper_whose_process_scans_anyway_does_not_look_before_an_answer(world):
    world.note("a.md", "a")
    world.sync()
    world.note("b.md", "b")
    config = Config(world.root, world.state_dir, dirty_check_s=0.0)
    made = Parts.of(config, world.embedder, hold=True, wake=lambda: None, is_scanning=lambda: True)
    assert made.access.try_become_writer()
    made.keeper.freshen()
    with made.access.reader() as caches:
        assert caches.catalog.known().keys() == {"a.md"}
    made.access.close()


def test_a_keeper_wakes_whoever_embeds_when_it_has_synced_before_an_answer(world):
    world.note("a.md", "a")
    woken = []
    config = Config(world.root, world.state_dir)
    made = Parts.of(
        config, world.embedder, hold=True, wake=lambda: woken.append(True), is_scanning=lambda: False
    )
    made.keeper.freshen()
    made.access.close()
    assert woken == [True]


@pytest.mark.parametrize("verb", ["sync", "reindex", "freshen", "look_again"])
def test_a_verb_of_the_keeper_is_the_engine_s_with_its_words_and_arguments(verb):
    passed_on, own = getattr(Engine, verb), getattr(Keeper, verb)
    assert passed_on.__doc__ == own.__doc__
    assert inspect.signature(passed_on) == inspect.signature(own)
