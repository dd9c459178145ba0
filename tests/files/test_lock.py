"""The writer's lock: one holder, released by the kernel when it dies, asked about without being disturbed."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.files.disk import ANOTHER_USER, as_another_user, needs_root, open_to_all
from tests.files.holding import another_process
from vaultmem.errors import WriterBusyError
from vaultmem.files import lock
from vaultmem.files.lock import WriterLock, holder

FORK = Path(__file__).parent / "programs" / "forked_holder.py"


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


def test_a_forked_child_neither_holds_the_parents_lock_nor_keeps_it_alive(path):
    command = [sys.executable, FORK, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.split() == ["free", "True", "True"]


# --- planted files


def test_a_lock_that_is_a_link_is_refused_and_what_it_leads_to_stays(path, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("precious")
    path.parent.mkdir()
    path.symlink_to(outside)
    with pytest.raises(OSError, match="symbolic link"):
        WriterLock(path).try_acquire()
    assert holder(path) is None
    assert outside.read_text() == "precious"
    path.unlink()
    path.hardlink_to(outside)
    with pytest.raises(PermissionError, match="no file of this user"):
        WriterLock(path).try_acquire()
    assert outside.read_text() == "precious"


def test_a_lock_that_is_no_file_is_refused(path):
    path.parent.mkdir()
    os.mkfifo(path)
    with pytest.raises(PermissionError, match="no file of this user"):
        WriterLock(path).try_acquire()


def test_what_others_left_among_the_locks_of_sessions_holds_no_session_up_and_no_sweep(tmp_path):
    """A link, a hard link, a folder that others may look into: as versions and programs before us left them."""
    state, outside = tmp_path / "state", tmp_path / "outside"
    sessions = state / "sessions"
    sessions.mkdir(parents=True)
    state.chmod(0o700)
    sessions.chmod(0o755)
    outside.write_text("precious")
    (sessions / "a.lock").symlink_to(outside)
    (sessions / "b.lock").hardlink_to(outside)
    (sessions / "c.lock").touch()
    for name in ("a.lock", "b.lock", "c.lock", "none.lock"):
        lock.remove(sessions / name, state_dir=state)
    assert sorted(os.listdir(sessions)) == ["a.lock", "b.lock"] and outside.read_text() == "precious"
    held = WriterLock(sessions / "s.lock", state_dir=state)
    assert held.try_acquire()
    lock.remove(sessions / "s.lock", state_dir=state)
    assert held.is_held
    held.release()


def without_locks(monkeypatch):
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(
            errno.EBADF, "Bad file descriptor"
        )  # as NFS says of a folder, or of a file open for reading

    monkeypatch.setattr(lock.fcntl, "flock", refuse)


def test_where_the_file_system_has_no_locks_nobody_is_blamed_for_holding_one(path, monkeypatch):
    without_locks(monkeypatch)
    before = len(os.listdir("/dev/fd"))
    with pytest.raises(OSError, match="Bad file descriptor"):
        WriterLock(path).try_acquire(5.0)
    assert holder(path) is None
    assert len(os.listdir("/dev/fd")) == before


def test_a_small_file_of_ours_is_locked_while_it_is_open(tmp_path):
    with lock.locked_file(tmp_path / "state", "number", 0.0) as descriptor:
        os.write(descriptor, b"1")
        with (
            pytest.raises(OSError, match="keeps it locked"),
            lock.locked_file(tmp_path / "state", "number", 0.0),
        ):
            pass
    with lock.locked_file(tmp_path / "state", "number", 0.0) as descriptor:
        assert os.read(descriptor, 9) == b"1"
    assert (tmp_path / "state" / "number").stat().st_mode & 0o777 == 0o600


# --- turns


def test_writers_of_a_root_take_turns(tmp_path):
    with lock.turn(tmp_path, "own/turn", 0.0):
        with pytest.raises(OSError, match="another process"), lock.turn(tmp_path, "own/turn", 0.0):
            pass
        assert not [path for path in tmp_path.rglob("*") if path.is_file()], (
            "it leaves no file among the notes"
        )
    with lock.turn(tmp_path, "own/turn", 0.0):
        pass


def test_where_there_can_be_no_lock_nobody_waits(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "own").symlink_to(tmp_path / "outside")
    for root in (tmp_path, tmp_path / "gone"):
        with lock.turn(root, "own/turn", 0.0), lock.turn(root, "own/turn", 0.0):
            pass
    assert os.listdir(tmp_path / "outside") == []


def test_a_root_whose_file_system_has_no_locks_lets_everybody_write_at_once(tmp_path, monkeypatch):
    without_locks(monkeypatch)
    with lock.turn(tmp_path, "own/turn", 60.0), lock.turn(tmp_path, "own/turn", 60.0):
        pass


@needs_root
def test_another_user_who_may_read_holds_nobody_up(tmp_path):
    """A lock on the folder of the notes, which everybody may open, would."""
    (tmp_path / "own" / "turn").mkdir(parents=True)
    open_to_all(tmp_path / "own" / "turn")
    with lock.turn(tmp_path, "own/turn", 0.0):
        said = as_another_user(lambda: os.open(tmp_path / "own" / "turn", os.O_RDONLY))
    assert said.startswith("PermissionError")
    os.chown(tmp_path / "own" / "turn", ANOTHER_USER, ANOTHER_USER)
    open_to_all(tmp_path / "own")
    (tmp_path / "own" / "turn").chmod(0o755)
    assert as_another_user(lambda: take_turns_twice(tmp_path)).startswith(
        "OSError"
    )  # its own: it waits for itself
    os.chown(tmp_path / "own" / "turn", 0, 0)
    (tmp_path / "own" / "turn").chmod(0o755)
    assert as_another_user(lambda: take_turns_twice(tmp_path)) == ""  # another's: it waits for nobody


def take_turns_twice(root):
    with lock.turn(root, "own/turn", 0.0), lock.turn(root, "own/turn", 0.0):
        pass


def test_who_opened_the_turns_folder_while_it_was_open_to_all_holds_up_nobody(tmp_path):
    folder = tmp_path / "own" / "turn"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    other = os.open(folder, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    try:
        with lock.turn(tmp_path, "own/turn", 0.0):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            with pytest.raises(OSError, match="another process"), lock.turn(tmp_path, "own/turn", 0.0):
                pass
    finally:
        os.close(other)
