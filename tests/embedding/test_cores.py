"""How many threads a library may take, and how a thread gives way."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vaultmem.embedding import cores

POLITE_THREAD = Path(__file__).parent / "programs" / "polite_thread.py"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test sets is gone after it."""
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    monkeypatch.setenv("OMP_WAIT_POLICY", "")


@pytest.mark.parametrize(("physical", "threads"), [(1, 1), (2, 2), (4, 3), (8, 7), (64, 8), (None, 1)])
def test_a_machine_with_three_cores_keeps_one_free(
    monkeypatch: pytest.MonkeyPatch, physical: int | None, threads: int
) -> None:
    import psutil

    monkeypatch.setattr(psutil, "cpu_count", lambda logical: physical)
    monkeypatch.setattr(os, "cpu_count", lambda: physical)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(999), raising=False)
    monkeypatch.setattr(cores, "_container_cores", lambda: 999)
    assert cores.default_threads() == threads
    monkeypatch.setattr(cores, "_container_cores", lambda: 1)
    assert cores.default_threads() == 1


def test_threads_are_set_before_a_library_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert cores.prepare_threads(None) == 3  # the user's own word
    assert cores.prepare_threads(2) == 2
    assert (os.environ["OMP_NUM_THREADS"], os.environ["OMP_WAIT_POLICY"]) == ("2", "passive")


@pytest.mark.parametrize("word", ["", "many", "-1", "2,1"])
def test_a_count_that_is_no_number_is_not_the_users_word(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setattr(cores, "default_threads", lambda: 5)
    monkeypatch.setenv("OMP_NUM_THREADS", word)
    assert cores.prepare_threads(None) == 5
    assert os.environ["OMP_NUM_THREADS"] == "5"


def test_a_thread_is_the_least_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "0")
    monkeypatch.setattr(cores, "default_threads", lambda: 1)
    assert cores.prepare_threads(None) == cores.prepare_threads(-4) == 1


@pytest.mark.parametrize(
    ("limit", "threads"),
    [("max 100000", 7), ("100000 100000", 1), ("150000 100000", 2), ("350000 100000", 3), ("nonsense", 7)],
)
def test_the_share_of_a_container_is_a_limit_rounded_up(
    monkeypatch: pytest.MonkeyPatch, limit: str, threads: int
) -> None:
    import psutil

    monkeypatch.setattr(psutil, "cpu_count", lambda logical: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(999), raising=False)
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: limit)
    assert cores.default_threads() == threads


def test_a_thread_gives_way_without_the_others_if_the_system_can_do_that() -> None:
    done = subprocess.run([sys.executable, POLITE_THREAD], check=True, capture_output=True, text=True)
    if sys.platform == "linux":
        assert int(done.stdout) == os.nice(0)


def test_a_system_that_refuses_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(nice: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "nice", refuse)
    cores.lower_priority()
    monkeypatch.delattr(os, "nice")
    cores.lower_priority()


def test_what_is_loaded_for_good_is_walked_through_no_more() -> None:
    try:
        cores.settle_garbage_collector()
        assert gc.get_freeze_count() > 1_000
    finally:
        gc.unfreeze()
