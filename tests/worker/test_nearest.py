"""The nearest memories: a worker's while one answers, else an engine of our own, else the files themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.worker.served import MEMORY, FakeEngine, serving
from tests.worlds import note_text
from vaultmem.config import Config, EngineChoice
from vaultmem.engine.engine import Engine
from vaultmem.errors import EngineError, NoteNotFoundError, RootMissingError
from vaultmem.worker.client import WorkerClient
from vaultmem.worker.nearest import Nearest

NEW = {"key": None, "name": "N", "description": "D", "tags": ["t"], "body": "B"}


@pytest.fixture
def config(tmp_path: Path, runtime_dir: Path) -> Config:
    """Of a root with the note `a`."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.md").write_text(note_text("a", "needle\n"))
    return Config(root, tmp_path / "state", engine=EngineChoice.NONE)


@pytest.fixture
def nearest(config: Config) -> Iterator[Nearest]:
    nearest = Nearest(config)
    yield nearest
    nearest.close()


def sync(config: Config) -> None:
    with Engine.open(config=config) as engine:
        engine.sync()


def test_a_worker_that_answers_is_asked_and_no_engine_is_opened(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "open", lambda *_, **__: pytest.fail("an engine was opened"))
    nearest = Nearest(engine.config)
    with serving(engine):
        nearest.warm_up()
        assert nearest.open_memory("mem_1") == MEMORY
        assert nearest.search("x", limit=5).matches[0].id == "mem_1"
        assert nearest.copies("mem_1") == engine.copies("mem_1")
        assert nearest.save(**NEW).memory == MEMORY  # type: ignore[arg-type]


def test_a_worker_that_comes_or_goes_is_noticed_by_the_next_call(config: Config, nearest: Nearest) -> None:
    sync(config)
    assert nearest.open_memory("a").id == "a"
    engine = FakeEngine(config.root, config.state_dir)
    with serving(engine):
        assert nearest.open_memory("mem_1") == MEMORY
    assert nearest.open_memory("a").id == "a"
    with pytest.raises(NoteNotFoundError):
        nearest.open_memory("mem_1")


def test_where_the_worker_dies_over_a_question_an_engine_of_our_own_answers(
    config: Config, nearest: Nearest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(client: WorkerClient, key: str) -> None:
        raise ConnectionResetError

    monkeypatch.setattr(WorkerClient, "open_memory", die)
    with serving(FakeEngine(config.root, config.state_dir)):
        assert nearest.open_memory("a").id == "a"


def test_where_it_goes_silent_over_a_save_nothing_is_written_a_second_time(
    config: Config, nearest: Nearest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fall_silent(client: WorkerClient, **fields: object) -> None:
        raise TimeoutError

    monkeypatch.setattr(WorkerClient, "save", fall_silent)
    with (
        serving(FakeEngine(config.root, config.state_dir)),
        pytest.raises(EngineError, match="stopped answering") as failure,
    ):
        nearest.save(**NEW)  # type: ignore[arg-type]
    assert "Search for the memory before saving it again" in failure.value.advice
    assert [path.name for path in config.root.rglob("*.md")] == ["a.md"]


def test_before_the_first_sync_the_files_themselves_answer(config: Config, nearest: Nearest) -> None:
    (config.root / "b.md").write_text(note_text("twin"))
    (config.root / "c.md").write_text(note_text("twin"))
    assert nearest.search("needle", limit=5).matches[0].id == "a"
    assert nearest.open_memory("a").body == "needle\n"
    assert [copy.path for copy in nearest.copies("twin")] == ["b.md", "c.md"]
    assert not (config.state_dir / "catalog.sqlite").exists(), "it was indexed meanwhile"


def test_a_note_that_was_written_this_instant_is_found(config: Config, nearest: Nearest) -> None:
    sync(config)
    assert nearest.open_memory("a").id == "a"
    (config.root / "b.md").write_text(note_text("b"))
    assert nearest.open_memory("b").id == "b"


def test_a_memory_is_saved_by_an_engine_of_our_own_where_no_worker_is(
    config: Config, nearest: Nearest
) -> None:
    key = nearest.save(**NEW).memory.id  # type: ignore[arg-type]
    assert key and nearest.open_memory(key).name == "N"


def test_closing_ends_what_was_opened_and_the_next_call_opens_anew(config: Config, nearest: Nearest) -> None:
    sync(config)
    for _ in range(2):
        assert nearest.open_memory("a").id == "a"
        nearest.close()


def test_a_warm_up_never_raises_and_the_first_call_tells(tmp_path: Path, runtime_dir: Path) -> None:
    nearest = Nearest(Config(tmp_path / "none", tmp_path / "state", engine=EngineChoice.NONE))
    nearest.warm_up()
    with pytest.raises(RootMissingError):
        nearest.search("x", limit=1)
