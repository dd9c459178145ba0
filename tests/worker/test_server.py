"""The worker's socket over an engine made of values: what travels, who is let in, what broken peers cost."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from vaultmem.config import Config
from vaultmem.errors import ConflictError, EngineError, NoteNotFoundError, UsageError, WriterBusyError
from vaultmem.hooks.turns import Turns
from vaultmem.hooks.usage import SessionLog
from vaultmem.notes.metadata import Metadata, Status
from vaultmem.recall.answer import Candidate, Clue, Hint, Mode, Recall
from vaultmem.recall.scoring import ChunkSignal, Signals, Verdict
from vaultmem.views import NoteCopy, OpenedMemory, Saved, SearchMatch, SearchResult
from vaultmem.worker import client as worker_client
from vaultmem.worker import protocol as wire
from vaultmem.worker import server as worker
from vaultmem.worker.address import Address, address_name, find_address, write_address
from vaultmem.worker.client import WorkerClient
from vaultmem.worker.server import Worker

MEMORY = OpenedMemory(
    Metadata("mem_1", "名 A", "desc", ("a", "b"), Status.DEPRECATED, "2026-05-01", "2026-05-02"),
    "2026/05/a.md",
    "body \ud800",
    "text",
    "d1",
)
SIGNALS = Signals(
    0.5, 0.4, 0.6, None, {"project": 0.05}, (ChunkSignal("t", "H › I", 3, 9, 0.4, 1.0),), ("t",)
)
RECALL = Recall(
    "q",
    (Hint("mem_1", 0.61, "名 A", "desc", "2026/05/a.md"),),
    (
        Candidate("mem_1", 0.61, Verdict.HINTED, SIGNALS, "2026/05/a.md", "名 A", "desc", 1),
        Candidate("mem_2", 0.41, Verdict.BELOW_THRESHOLD, Signals(bm25=0.4), "b.md", "B", "d", 2),
    ),
    Mode.HYBRID,
)


class FakeEngine:
    def __init__(self, root: Path, state_dir: Path) -> None:
        self.config = Config(root, state_dir)
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.hold = threading.Event()
        self.hold.set()
        self.is_warm = threading.Event()
        self.warm_up_error: EngineError | None = None

    def recall(self, query: str, **options: Any) -> Recall:
        if query == "warm up":
            self.is_warm.set()
            if self.warm_up_error is not None:
                raise self.warm_up_error
            return Recall(query)
        self.hold.wait(10)
        self.calls.append((query, options))
        if query == "crash":
            raise ZeroDivisionError("secret text")
        return RECALL

    def search(self, pattern: str, **options: Any) -> SearchResult:
        if pattern == "(":
            raise UsageError("not a pattern", advice="escape it")
        return SearchResult(
            (SearchMatch("mem_1", "a.md", 3, "line", ("b",), ()),), ("one file was unreadable",)
        )

    def open_memory(self, key: str) -> OpenedMemory:
        if key == "twice":
            raise ConflictError("two notes", paths=("a.md", "b.md"), advice="choose")
        if key != "mem_1":
            raise NoteNotFoundError(f"no note has the id {key}")
        return MEMORY

    def copies(self, key: str) -> tuple[NoteCopy, ...]:
        return (NoteCopy("a.md", datetime(2026, 5, 1, tzinfo=UTC), 10, looks_like_sync_copy=False),)

    def save(self, **fields: Any) -> Saved:
        if fields.get("name") == "busy":
            raise WriterBusyError("busy", pid=42)
        return Saved(MEMORY, True, "--- diff", ("mem_2",))


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    runtime = Path(f"/tmp/vmt-{os.getpid()}-{abs(hash(str(tmp_path))) % 10**8}")
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    return FakeEngine(tmp_path / "root", tmp_path / "state")


def serving(engine: FakeEngine) -> Worker:
    return Worker(engine, Turns(engine).answer_hook)  # type: ignore[arg-type]


@pytest.fixture
def client(engine: FakeEngine) -> Iterator[WorkerClient]:
    with serving(engine):
        found = WorkerClient.connect(engine.config)
        assert found is not None
        yield found


def test_every_value_arrives_as_the_engine_gave_it(client: WorkerClient, engine: FakeEngine) -> None:
    assert client.recall("q", limit=2, project="p", suppressed={"x"}) == RECALL
    assert engine.calls == [("q", {"limit": 2, "project": "p", "suppressed": ["x"]})]
    assert client.search("x").matches[0].before == ("b",)
    assert client.search("x").warnings == ("one file was unreadable",)
    assert client.open_memory("mem_1") == MEMORY
    assert client.copies("mem_1") == engine.copies("mem_1")
    assert client.save(name="n") == Saved(MEMORY, True, "--- diff", ("mem_2",))


def test_clues_carry_names_and_verdicts_but_no_signals(client: WorkerClient) -> None:
    assert client.clues("q", limit=3) == (
        Clue("mem_1", 0.61, "名 A", "desc", "hinted"),
        Clue("mem_2", 0.41, "B", "d", "below_threshold"),
    )


def test_errors_arrive_as_themselves(client: WorkerClient) -> None:
    with pytest.raises(NoteNotFoundError, match="no note has the id x"):
        client.open_memory("x")
    with pytest.raises(ConflictError) as conflict:
        client.open_memory("twice")
    assert (conflict.value.paths, conflict.value.advice) == (("a.md", "b.md"), "choose")
    with pytest.raises(UsageError) as usage:
        client.search("(")
    assert usage.value.advice == "escape it"
    with pytest.raises(WriterBusyError) as busy:
        client.save(name="busy")
    assert busy.value.pid == 42


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


def test_without_a_worker_there_is_no_client(engine: FakeEngine) -> None:
    assert WorkerClient.connect(engine.config) is None


def test_a_dead_workers_address_is_no_client(engine: FakeEngine) -> None:
    root, folder = str(engine.config.root), worker.runtime_folder()
    state = str(engine.config.state_dir)
    write_address(folder, Address(1, root, state, True, "/tmp/vmt-nobody.sock"))
    assert find_address(root) is not None
    assert WorkerClient.connect(engine.config) is None
    Path(folder, address_name(root)).write_bytes(b"\xff{")
    assert WorkerClient.connect(engine.config) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"socket": 5},
        {"socket": ["/tmp/x"]},
        {"socket": "\ud800"},
        {"socket": "/tmp/" + "x" * 300},
        {"socket": None},
        {"socket": ""},
        {"pid": True},
        {"pid": "1"},
        {"state_dir": 5},
        {"is_default_state_dir": "yes"},
        {"unknown": 1},
    ],
    ids=str,
)
def test_a_wrong_address_is_no_client(engine: FakeEngine, wrong: dict[str, Any]) -> None:
    root, folder = str(engine.config.root), worker.runtime_folder()
    right = Address(1, root, str(engine.config.state_dir), True, "/tmp/vmt-nobody.sock")._asdict()
    Path(folder, address_name(root)).write_bytes(wire.encode({**right, **wrong}))
    assert WorkerClient.connect(engine.config) is None
    with serving(engine):
        found = WorkerClient.connect(engine.config)
        assert found is not None and found.recall("q") == RECALL


def test_a_worker_of_another_root_is_not_asked(engine: FakeEngine, tmp_path: Path) -> None:
    with serving(engine):
        for other in (
            Config(tmp_path / "other", engine.config.state_dir),
            Config(engine.config.root, tmp_path),
        ):
            assert WorkerClient.connect(other) is None


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
    with (
        serving(engine) as served,
        socket.socket(socket.AF_UNIX) as listener,
    ):  # type: ignore[arg-type]
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


def test_a_runtime_folder_open_to_others_is_refused(engine: FakeEngine) -> None:
    folder = Path(os.environ["XDG_RUNTIME_DIR"]) / "vaultmem"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(EngineError, match="not a folder of this user alone"):
        worker.runtime_folder()


def test_a_peer_of_another_user_is_turned_away(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(engine):
        found = WorkerClient.connect(engine.config)
        assert found is not None
        monkeypatch.setattr(worker_client, "is_same_user", lambda connection: False)
        assert WorkerClient.connect(engine.config) is None


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


def test_an_endless_line_ends_its_connection_only(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_client, "MESSAGE_LIMIT_BYTES", 1000)
    with serving(engine) as served:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            connection.connect(served.address.socket)
            with pytest.raises(OSError):
                while True:
                    connection.sendall(b"x" * 10_000)
        with pytest.raises(UsageError):
            WorkerClient(served.address).recall("x" * 2000)
        assert WorkerClient(served.address).clues("q")


def test_a_slow_worker_costs_its_time_out_only(engine: FakeEngine) -> None:
    with serving(engine) as served:
        engine.hold.clear()
        with pytest.raises(TimeoutError):
            WorkerClient(served.address).clues("q", timeout_s=0.05)
        engine.hold.set()
        assert WorkerClient(served.address).clues("q")


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


def test_a_hook_is_answered_whole_by_the_worker(client: WorkerClient, engine: FakeEngine) -> None:
    engine.config.root.mkdir()
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "q"}
    answer = json.loads(client.call("hook", {"client": "claude-code", "text": json.dumps(event)}))
    assert "- mem_1 | score=0.61 | 名 A | desc" in answer["hookSpecificOutput"]["additionalContext"]
    assert client.call("hook", {"client": "claude-code", "text": "junk"}) == ""


def test_a_hook_that_nobody_waits_for_any_more_records_no_hint(
    client: WorkerClient, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vaultmem.hooks.budget.WORKER_S", -1.0)
    engine.config.root.mkdir()
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "q"}
    assert client.call("hook", {"client": "claude-code", "text": json.dumps(event)}) == ""
    assert [each.kind.value for each in SessionLog(engine.config.root, "s").read()] == ["run_started"]


def test_sockets_of_killed_workers_are_swept_and_live_ones_stay(engine: FakeEngine) -> None:
    folder = Path(worker.runtime_folder())
    dead = folder / f"{address_name(str(engine.config.root))[:8]}-1.sock"
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(dead))
    other = FakeEngine(engine.config.root.parent / "other", engine.config.state_dir)
    with (
        serving(engine) as first,
        serving(other) as second,
    ):  # type: ignore[arg-type]
        assert not dead.exists()
        assert WorkerClient(first.address).clues("q") and WorkerClient(second.address).clues("q")
