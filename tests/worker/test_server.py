"""The worker's socket over an engine made of values: what travels, who is let in, what broken peers cost."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.worker.served import RECALL, FakeEngine, serving
from vaultmem.errors import EngineError
from vaultmem.worker import address
from vaultmem.worker import protocol as wire
from vaultmem.worker import server as worker
from vaultmem.worker.address import Address, address_name, find_address, write_address
from vaultmem.worker.client import WorkerClient
from vaultmem.worker.server import Worker


def test_a_crash_of_the_engine_tells_nothing_private_and_the_worker_lives_on(client: WorkerClient) -> None:
    with pytest.raises(EngineError) as failure:
        client.recall("crash")
    assert "secret" not in str(failure.value)
    assert client.recall("q") == RECALL


def test_a_crash_is_in_the_log_of_the_worker_with_its_traceback(
    client: WorkerClient, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(EngineError, match="ZeroDivisionError"):
        client.recall("crash")
    assert "Traceback" in caplog.text and "ZeroDivisionError" in caplog.text


def test_a_worker_warms_up_before_the_first_hook_asks(engine: FakeEngine) -> None:
    with serving(engine):
        assert engine.is_warm.wait(5)


def test_a_warm_up_that_fails_is_in_the_log_and_the_worker_lives_on(
    engine: FakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    engine.warm_up_error = EngineError("the caches are torn")
    with serving(engine) as served:
        deadline = time.monotonic() + 30
        while "the caches are torn" not in caplog.text and time.monotonic() < deadline:
            time.sleep(0.01)
        assert WorkerClient(served.address).recall("q") == RECALL
    assert "could not warm up: the caches are torn" in caplog.text


def test_a_closed_worker_leaves_nothing_behind(engine: FakeEngine) -> None:
    with serving(engine) as served:
        path = Path(served.address.socket)
        assert path.exists()
    assert not path.exists()
    assert find_address(str(engine.config.root)) is None


def test_closing_ends_the_thread_that_waits_for_clients_at_once(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "LOOK_EVERY_S", 60.0)
    with serving(engine) as served:
        assert served._accepting.is_alive()
    assert not served._accepting.is_alive()


def test_closing_does_not_take_a_successors_address(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "LOOK_EVERY_S", 60.0)
    with serving(engine):
        root = str(engine.config.root)
        write_address(worker.runtime_folder(), Address(99999, root, "s", True, "/tmp/x"))
    address = find_address(root)
    assert address is not None and address.pid == 99999


def _replace_by_a_file(path: Path) -> None:
    path.unlink()
    path.write_text("not a socket")


@pytest.mark.parametrize(
    "clean",
    [
        lambda sock, address: sock.unlink(),
        lambda sock, address: address.unlink(),
        lambda sock, address: shutil.rmtree(sock.parent),
        lambda sock, address: address.write_bytes(b"{"),
        lambda sock, address: _replace_by_a_file(sock),
    ],
    ids=["socket", "address", "folder", "damaged address", "another file"],
)
def test_a_worker_whose_files_were_cleaned_away_can_be_found_again(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, clean: Callable[[Path, Path], object]
) -> None:
    monkeypatch.setattr(worker, "LOOK_EVERY_S", 0.02)
    with serving(engine) as served:
        path = Path(served.address.socket)
        clean(path, path.parent / address_name(served.address.root))
        deadline = time.monotonic() + 30
        while (found := WorkerClient.connect(engine.config)) is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert found is not None and found.recall("q") == RECALL
        path = Path(served.address.socket)
    assert not path.exists() and find_address(str(engine.config.root)) is None


def test_a_worker_leaves_the_address_to_a_later_one_that_lives_and_takes_a_dead_ones(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "LOOK_EVERY_S", 60.0)
    root, folder = str(engine.config.root), worker.runtime_folder()
    later = str(Path(folder, "later.sock"))
    with serving(engine) as served, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(later)
        listener.listen()
        write_address(folder, Address(1, root, "other", True, later))
        served._stay_reachable()
        found = find_address(root)
        assert found is not None and found.pid == 1
        listener.close()
        served._stay_reachable()
        assert find_address(root) == served.address


def test_socket_and_address_are_the_users_alone(engine: FakeEngine) -> None:
    with serving(engine) as served:
        path = Path(served.address.socket)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert len(os.fsencode(path)) < 100
        address_file = path.parent / address_name(served.address.root)
        assert stat.S_IMODE(address_file.stat().st_mode) == 0o600


def _open_to_others(place: Path) -> None:
    place.mkdir()
    place.chmod(0o777)


def _link_to_a_folder_of_ours(place: Path) -> None:
    (place.parent / "ours").mkdir(mode=0o700)
    place.symlink_to(place.parent / "ours")


@pytest.mark.parametrize("planted", [_open_to_others, _link_to_a_folder_of_ours, Path.touch, os.mkfifo])
def test_what_is_no_folder_of_ours_alone_is_left_and_the_next_place_taken(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, planted: Callable[[Path], object]
) -> None:
    runtime = Path(os.environ["XDG_RUNTIME_DIR"])
    planted(runtime / "vaultmem")
    ours = runtime / "state" / "vaultmem" / "run"
    monkeypatch.setattr(worker, "runtime_folders", lambda: iter([str(runtime / "vaultmem"), str(ours)]))
    monkeypatch.setattr(address, "runtime_folders", worker.runtime_folders)
    with serving(engine) as served:
        assert Path(served.address.socket).parent == ours
        found = WorkerClient.connect(engine.config)
        assert found is not None and found.recall("q") == RECALL
    assert not os.path.isdir(runtime / "ours") or not os.listdir(runtime / "ours")


def test_a_place_with_a_path_too_long_for_sockets_holds_the_address_alone(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = Path(os.environ["XDG_RUNTIME_DIR"], *["a long name" * 3] * 4)
    for module in (worker, address):
        monkeypatch.setattr(module, "runtime_folders", lambda: iter([str(long)]))
    with serving(engine) as served:
        path = Path(served.address.socket)
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700 and len(str(path)) < 100
        assert [each.name for each in long.iterdir()] == [address_name(served.address.root)]
        path.unlink()  # as a cleaner would
        monkeypatch.setattr(worker, "LOOK_EVERY_S", 0.02)
        deadline = time.monotonic() + 30
        while (found := WorkerClient.connect(engine.config)) is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert found is not None and found.recall("q") == RECALL
        assert not path.parent.exists()
        path = Path(served.address.socket)
    assert not path.parent.exists() and not list(long.iterdir())


def test_a_place_that_takes_no_socket_is_left_as_it_was(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is tried again and again: each try would leave a folder and a descriptor."""
    made = tmp_path / ("too long for a socket" * 6)
    made.mkdir(mode=0o700)
    monkeypatch.setattr(worker, "socket_folder", lambda _: str(made))
    before = len(os.listdir("/dev/fd"))
    with pytest.raises(OSError):
        Worker(engine, lambda *_: "")  # type: ignore[arg-type]
    assert len(os.listdir("/dev/fd")) == before and not made.exists()


def test_a_socket_whose_folder_others_can_reach_is_not_spoken_to(
    engine: FakeEngine, client: WorkerClient
) -> None:
    """The worker is dead, its temporary folder was cleaned away, and somebody took its name."""
    found = find_address(str(engine.config.root))
    assert found is not None
    taken = Path(os.environ["XDG_RUNTIME_DIR"], "taken")
    taken.mkdir(mode=0o755)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(taken / "x.sock"))
        listener.listen()
        write_address(worker.runtime_folder(), found._replace(socket=str(taken / "x.sock")))
        assert WorkerClient.connect(engine.config) is None
        taken.chmod(0o700)
        assert WorkerClient.connect(engine.config) is not None


def test_without_any_place_the_reason_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(worker, "runtime_folders", lambda: iter([str(tmp_path / "file" / "run")]))
    with pytest.raises(EngineError, match="folder of this user alone"):
        worker.runtime_folder()


def raw(served: Worker, data: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(5)
        connection.connect(served.address.socket)
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        return connection.makefile("rb").read()


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"{}\n",
        b"\xff\n",
        b"[" * 100_000 + b"\n",
        b'{"v":99,"method":"recall"}\n',
        b'{"v":1,"method":"nope"}\n',
        b'{"v":1,"method":"recall","params":{"wrong":1}}\n',
        b'{"v":1,"method":"recall","params":[1]}\n',
    ],
)
def test_a_damaged_request_is_answered_with_an_error(engine: FakeEngine, line: bytes) -> None:
    with serving(engine) as served:
        assert "error" in json.loads(raw(served, line))
        assert WorkerClient(served.address).recall("q") == RECALL


def test_a_connection_may_carry_several_requests(engine: FakeEngine) -> None:
    request = wire.encode({"method": "clues", "params": {"query": "q"}})
    with serving(engine) as served:
        assert len(raw(served, request * 3).splitlines()) == 3
        assert raw(served, request[:-5]) == b""


def test_twenty_clients_at_once_are_all_answered(engine: FakeEngine) -> None:
    answers: list[object] = []
    with serving(engine) as served:
        threads = [
            threading.Thread(target=lambda: answers.append(WorkerClient(served.address).recall("q")))
            for _ in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == [RECALL] * 20


def test_sockets_of_killed_workers_are_swept_and_live_ones_stay(engine: FakeEngine) -> None:
    folder = Path(worker.runtime_folder())
    dead = folder / f"{address_name(str(engine.config.root))[:8]}-1.sock"
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(dead))
    other = FakeEngine(engine.config.root.parent / "other", engine.config.state_dir)
    with serving(engine) as first, serving(other) as second:
        assert not dead.exists()
        assert WorkerClient(first.address).clues("q") and WorkerClient(second.address).clues("q")
