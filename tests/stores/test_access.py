"""Who may write a state dir: one process, in it one thread at a time; readers beside it see what is there."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.files.holding import another_process
from tests.stores.records import record, write
from vaultmem.errors import EngineError, StoreError, WriterBusyError
from vaultmem.files.lock import holder
from vaultmem.stores import access as access_module
from vaultmem.stores.access import WRITER_WAIT_S, Access

TURN_TAKER = Path(__file__).parent / "programs" / "turn_taker.py"


@pytest.fixture
def access(tmp_path: Path) -> Iterator[Callable[..., Access]]:
    """Ways to one state dir, each as another process would have it; all are closed in the end."""
    opened: list[Access] = []

    def another(*, hold: bool = False) -> Access:
        opened.append(Access(tmp_path / "state", hold=hold))
        return opened[-1]

    yield another
    for one in opened:
        one.close()


@contextmanager
def other_thread_inside(access: Access) -> Iterator[None]:
    """Another thread of this process is at it, until the end."""
    begun, ending = threading.Event(), threading.Event()

    def keep_a_turn() -> None:
        with access.writer():
            begun.set()
            ending.wait(30)

    thread = threading.Thread(target=keep_a_turn)
    thread.start()
    try:
        assert begun.wait(10)
        yield
    finally:
        ending.set()
        thread.join()


# --- the lock


def test_without_hold_the_lock_is_held_for_one_use(access) -> None:
    one, other = access(), access()
    with one.writer():
        assert one.is_writer
        with pytest.raises(WriterBusyError), other.writer(timeout_s=0.0):
            pass
    assert not one.is_writer
    with other.writer(timeout_s=0.0):
        assert other.is_writer


def test_with_hold_the_lock_is_kept_until_the_end(access) -> None:
    one, other = access(hold=True), access()
    with one.writer():
        pass
    assert one.is_writer and not other.try_become_writer()
    one.close()
    assert not one.is_writer and other.try_become_writer()


def test_whoever_becomes_the_writer_keeps_the_lock_from_then_on(access) -> None:
    one = access()
    assert one.try_become_writer() and one.try_become_writer()
    with one.writer():
        pass
    assert one.is_writer


def test_a_use_within_a_use_is_of_the_same_caches_and_lets_go_of_nothing(access) -> None:
    one = access()
    with one.writer() as outer:
        with one.writer(timeout_s=0.0) as inner:
            assert inner is outer
        assert one.is_writer
        write(outer.catalog, record("a.md"))


def test_holding_keeps_the_lock_over_several_uses(access) -> None:
    one, other = access(), access()
    with one.holding():
        for _ in range(2):
            with one.writer():
                pass
            assert not other.try_become_writer()
    assert other.try_become_writer()


# --- threads


def test_a_thread_in_a_hurry_does_not_wait_for_another_ones_turn(access, monkeypatch) -> None:
    monkeypatch.setattr(access_module, "TURN_WAIT_S", 0.01)
    one = access()
    with (
        other_thread_inside(one),
        pytest.raises(WriterBusyError, match="in the middle of a sync"),
        one.writer(timeout_s=0.0),
    ):
        pass


def test_between_the_uses_of_holding_another_thread_has_its_turn(access) -> None:
    one = access()
    with one.holding(), other_thread_inside(one):
        pass
    assert not one.is_writer


def test_one_thread_reads_beside_the_one_that_writes(access) -> None:
    one = access()
    with one.writer():
        pass
    with other_thread_inside(one), one.reader() as caches:
        assert caches.catalog.rows() == []


# --- reading


def test_a_reader_of_nothing_is_refused_and_makes_nothing(access) -> None:
    one = access()
    with pytest.raises(StoreError), one.reader():
        pass
    assert not one.state_dir.exists()


def test_a_reader_opens_anew_what_was_deleted_under_it(access) -> None:
    one, other = access(), access()
    with one.writer() as caches:
        write(caches.catalog, record("a.md"))
    with other.reader() as caches:
        assert [row.path for row in caches.catalog.rows()] == ["a.md"]
    shutil.rmtree(one.state_dir)
    with one.writer() as caches:
        write(caches.catalog, record("b.md"))
    with other.reader() as caches:
        assert [row.path for row in caches.catalog.rows()] == ["b.md"]


def test_a_reader_keeps_its_handles_until_they_are_dropped(access) -> None:
    one = access(hold=True)
    with one.writer():
        pass
    with one.reader() as first, one.reader() as again:
        assert again is first
    one.drop_reader()
    with one.reader() as other:
        assert other is not first


# --- what cannot be


def test_a_state_dir_that_is_a_file_is_a_store_error_that_says_what_to_do(access) -> None:
    one = access()
    one.state_dir.write_text("in the way")
    for use in (one.try_become_writer, lambda: one.writer().__enter__()):
        with pytest.raises(StoreError, match="cannot be used") as refused:
            use()
        assert "--state-dir" in refused.value.advice
    assert one.state_dir.read_text() == "in the way"


def test_a_failure_that_names_no_file_is_told_without_one(access, monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    one = access()
    with monkeypatch.context() as broken, pytest.raises(StoreError, match=r"Input/output error$"):
        broken.setattr("os.ftruncate", fail)
        one.try_become_writer()
    assert not one.is_writer
    assert one.try_become_writer(), "a failure does not keep the lock"


def test_after_the_end_nothing_can_be_used(access) -> None:
    one = access(hold=True)
    with one.writer():
        pass
    one.close()
    uses = (one.try_become_writer, lambda: one.writer().__enter__(), lambda: one.reader().__enter__())
    for use in uses:
        with pytest.raises(EngineError, match="closed"):
            use()


def test_a_forked_child_has_no_way_of_its_parents(access, monkeypatch) -> None:
    one = access()
    with one.writer():
        pass
    monkeypatch.setattr(access_module.os, "getpid", lambda: 1)
    with pytest.raises(EngineError, match="another process"), one.reader():
        pass


# --- beside other processes


def test_without_hold_the_lock_is_taken_per_use_and_uses_nest(tmp_path):
    access = Access(tmp_path, hold=False)
    with access.writer() as caches:
        with access.writer() as same:
            assert same is caches
        assert access.is_writer
    assert not access.is_writer and access.writer_pid is None
    access.close()


def test_with_hold_the_lock_is_kept_until_close(tmp_path):
    access = Access(tmp_path, hold=True)
    with access.writer():
        pass
    assert access.is_writer and access.writer_pid == os.getpid()
    access.close()
    assert not access.is_writer


def test_becoming_the_writer_means_staying_it(tmp_path):
    access = Access(tmp_path, hold=False)
    assert access.try_become_writer()
    with access.writer():
        pass
    assert access.is_writer
    access.close()


def test_a_busy_lock_costs_no_more_than_the_wait_asked_for(tmp_path):
    with another_process(tmp_path / "writer.lock"):
        access = Access(tmp_path, hold=True)
        assert not access.try_become_writer()
        started = time.monotonic()
        with pytest.raises(WriterBusyError), access.writer(timeout_s=0.2):
            pass
        assert time.monotonic() - started < WRITER_WAIT_S
        access.close()


def test_a_writer_whose_state_dir_was_deleted_begins_a_new_one(tmp_path):
    state = tmp_path / "state"
    access = Access(state, hold=True)
    with access.writer() as caches:
        caches.catalog.set_meta("x", "1")
    shutil.rmtree(state)
    assert not access.is_writer
    with access.writer() as caches:
        assert caches.catalog.meta("x") is None
    assert access.is_writer
    access.close()


def test_a_reader_of_nothing_is_told_so_and_makes_nothing(tmp_path):
    access = Access(tmp_path / "state", hold=False)
    with pytest.raises(StoreError), access.reader():
        pass
    assert not (tmp_path / "state").exists()
    access.close()


def test_a_thread_that_outlives_close_cannot_take_the_lock_again(tmp_path):
    access = Access(tmp_path, hold=True)
    with access.writer():
        pass
    access.close()
    with pytest.raises(EngineError, match="closed"), access.writer():
        pass
    with pytest.raises(EngineError, match="closed"):
        access.try_become_writer()
    assert holder(tmp_path / "writer.lock") is None


def test_processes_that_begin_together_on_no_caches_each_come_to_their_turn(tmp_path):
    command = [sys.executable, TURN_TAKER, tmp_path / "state"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(3)]
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate()[1] for process in processes] == [""] * 3
    access = Access(tmp_path / "state", hold=False)
    with access.reader() as caches:
        assert caches.catalog.meta("turns") == "3"
    access.close()


def test_a_lock_that_is_a_link_is_refused_with_what_to_do_and_its_target_stays(tmp_path):
    (tmp_path / "outside").write_text("precious")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "writer.lock").symlink_to(tmp_path / "outside")
    access = Access(tmp_path / "state", hold=False)
    with pytest.raises(StoreError, match=r"writer\.lock is a symbolic link.*delete it"), access.writer():
        pass
    assert (tmp_path / "outside").read_text() == "precious"
    access.close()
