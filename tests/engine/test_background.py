"""The background's turns: who becomes the writer, what a reader is told, and that nothing ends it."""

from __future__ import annotations

import shutil

import pytest

from tests.engine.following import following, wait_until
from vaultmem.engine import background
from vaultmem.engine.engine import Engine
from vaultmem.errors import EmbedderError
from vaultmem.events import CachesChanged, EngineFailed, EngineRecovered, LockChanged, WatcherChanged

# --- the lock


def test_a_reader_becomes_the_writer_when_the_lock_is_free_and_begins_with_a_look_at_everything(
    world, monkeypatch
):
    monkeypatch.setattr(background, "LOCK_RETRY_S", 0.05)
    world.note("a.md", "a")
    first = Engine.open(world.root, world.state_dir, "none", hold=True)
    first.sync()
    with following(world, ready=False) as watched:
        wait_until(lambda: watched.told(WatcherChanged))
        assert not watched.engine.is_writer
        world.note("b.md", "b")
        (world.root / "a.md").unlink()
        first.close()
        watched.wait_for({"b.md": "b"})
        assert watched.engine.is_writer
        assert [(e.is_writer, e.pid) for e in watched.told(LockChanged)] == [(True, None)]


@pytest.mark.parametrize("has_caches", [True, False])
def test_a_reader_is_told_when_the_writer_has_committed(world, monkeypatch, has_caches):
    monkeypatch.setattr(background, "BEAT_S", 0.02)
    with Engine.open(world.root, world.state_dir, "none", hold=True) as writer:
        if has_caches:
            writer.sync()
        with following(world, ready=False) as watched:
            world.note("a.md", "a")
            writer.sync()
            wait_until(lambda: watched.told(CachesChanged))
            assert watched.ids() == {"a.md": "a"}


def test_whoever_lost_its_state_dir_takes_the_lock_again_and_syncs_anew(world, monkeypatch):
    monkeypatch.setattr(background, "LOCK_RETRY_S", 0.05)
    world.note("a.md", "a")
    with following(world) as watched:
        shutil.rmtree(world.state_dir)
        wait_until(lambda: (world.state_dir / "catalog.sqlite").exists() and watched.ids() == {"a.md": "a"})
        assert watched.engine.is_writer


# --- nothing ends it


@pytest.mark.parametrize("error", [ZeroDivisionError("a bug"), EmbedderError("no model")])
def test_an_unexpected_error_is_told_and_following_goes_on(world, monkeypatch, caplog, error):
    monkeypatch.setattr(background, "LOCK_RETRY_S", 0.05)
    with following(world) as watched:
        sync_lexical = watched.engine.parts.keeper.sync_lexical
        errors = [error]

        def fail_once(*args, **options):
            if errors:
                raise errors.pop()
            return sync_lexical(*args, **options)

        monkeypatch.setattr(watched.engine.parts.keeper, "sync_lexical", fail_once)
        world.note("a.md", "a")
        watched.wait_for({"a.md": "a"})
        (failed,) = watched.told(EngineFailed)
        assert str(error) in failed.message
        wait_until(lambda: watched.told(EngineRecovered))
