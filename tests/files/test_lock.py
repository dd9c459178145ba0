"""The writer's lock: one holder, released by the kernel when it dies, asked about without being disturbed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vaultmem.errors import EngineError, StoreError, WriterBusyError
from vaultmem.files.lock import WriterLock, holder
from vaultmem.stores.access import Access

HOLD = """
import sys
from pathlib import Path
from vaultmem.files.lock import WriterLock
lock = WriterLock(Path(sys.argv[1]))
print("held" if lock.try_acquire() else "busy", flush=True)
sys.stdin.readline()
"""


@contextmanager
def another_process(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock until it is told to end."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def wait_until(holds: Callable[[], object], within_s: float = 10.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.005)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "writer.lock"


def test_a_free_lock_is_taken_and_names_its_holder(path):
    lock = WriterLock(path)
    assert holder(path) is None
    assert lock.try_acquire()
    assert lock.is_held and holder(path) == os.getpid()
    lock.release()
    assert not lock.is_held and holder(path) is None


def test_taking_a_lock_that_is_held_already_changes_nothing(path):
    lock = WriterLock(path)
    assert lock.try_acquire() and lock.try_acquire()
    lock.release()
    assert holder(path) is None


def test_a_second_process_is_refused_and_told_who_holds_it(path):
    with another_process(path) as other:
        lock = WriterLock(path)
        assert not lock.try_acquire()
        assert holder(path) == other.pid
        with pytest.raises(WriterBusyError, match=str(other.pid)) as refused:
            lock.acquire(0.1)
        assert refused.value.pid == other.pid
        assert refused.value.advice


def test_whoever_waits_gets_the_lock_when_the_holder_ends(path):
    with another_process(path) as other:
        ended = threading.Thread(target=lambda: other.communicate("\n"))
        lock = WriterLock(path)
        ended.start()
        assert lock.try_acquire(10.0)
        ended.join()
    assert holder(path) == os.getpid()
    lock.release()


def test_kill_9_releases_it_though_its_text_stays(path):
    with another_process(path) as other:
        other.send_signal(signal.SIGKILL)
        other.wait()
        assert path.read_text() == f"{other.pid}\n"
        assert holder(path) is None
        lock = WriterLock(path)
        assert lock.try_acquire()
        assert holder(path) == os.getpid()
        lock.release()


@pytest.mark.parametrize(
    "text", ["99999999\nold rubbish that is longer than a pid\n", "", "no number", "\0\0"]
)
def test_what_a_dead_process_left_in_the_file_decides_nothing(path, text):
    path.parent.mkdir()
    path.write_text(text)
    assert holder(path) is None
    lock = WriterLock(path)
    assert lock.try_acquire()
    assert path.read_text() == f"{os.getpid()}\n"
    lock.release()


def test_asking_who_holds_it_takes_nothing_from_whoever_wants_it(path):
    """A probe holds a shared lock for an instant; a taker that meets it tries again."""
    ending = threading.Event()

    def ask() -> None:
        while not ending.is_set():
            holder(path)

    path.parent.mkdir()
    path.touch()
    askers = [threading.Thread(target=ask) for _ in range(2)]
    for asker in askers:
        asker.start()
    try:
        for _ in range(30):
            lock = WriterLock(path)
            assert lock.try_acquire(5.0)
            assert holder(path) == os.getpid()
            lock.release()
    finally:
        ending.set()
        for asker in askers:
            asker.join()


def test_asking_makes_no_file(path):
    assert holder(path) is None
    assert not path.parent.exists()


def test_a_deleted_lock_file_locks_nobody_out_and_its_holder_knows(path):
    first, second = WriterLock(path), WriterLock(path)
    assert first.try_acquire()
    shutil.rmtree(path.parent)
    assert not first.is_held
    assert second.try_acquire()
    assert not first.try_acquire()
    second.release()
    assert first.try_acquire()
    first.release()


FORK = """
import os, signal, sys
from pathlib import Path
from vaultmem.files.lock import WriterLock
path = Path(sys.argv[1])
lock = WriterLock(path)
assert lock.try_acquire()
read_end, write_end = os.pipe()
child = os.fork()
if child == 0:
    os.write(write_end, b"held" if lock.is_held or lock.try_acquire() else b"free")
    signal.pause()
print(os.read(read_end, 4).decode(), lock.is_held)
lock.release()
print(WriterLock(path).try_acquire())
os.kill(child, signal.SIGKILL)
"""


def test_a_forked_child_neither_holds_the_parents_lock_nor_keeps_it_alive(path):
    command = [sys.executable, "-c", FORK, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.split() == ["free", "True", "True"]


# --- access


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
        assert time.monotonic() - started < 3.0
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


TAKE_A_TURN = """
import sys
from pathlib import Path
from vaultmem.stores.access import Access
access = Access(Path(sys.argv[1]), hold=False)
print("ready", flush=True)
sys.stdin.readline()
with access.writer(timeout_s=20.0) as caches:
    caches.catalog.set_meta("turns", str(int(caches.catalog.meta("turns") or 0) + 1))
"""


def test_processes_that_begin_together_on_no_caches_each_come_to_their_turn(tmp_path):
    command = [sys.executable, "-c", TAKE_A_TURN, str(tmp_path / "state")]
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
