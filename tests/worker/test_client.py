"""The engine's verbs over a socket: values and errors as they were given, and no client where no worker is."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from tests.worker.served import MEMORY, RECALL, FakeEngine, serving
from vaultmem.config import Config
from vaultmem.errors import ConflictError, NoteNotFoundError, UsageError, WriterBusyError
from vaultmem.recall.answer import Clue
from vaultmem.views import Saved
from vaultmem.worker import client as worker_client
from vaultmem.worker import protocol as wire
from vaultmem.worker import server as worker
from vaultmem.worker.address import Address, address_name, find_address, write_address
from vaultmem.worker.client import WorkerClient


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


def test_a_peer_of_another_user_is_turned_away(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(engine):
        found = WorkerClient.connect(engine.config)
        assert found is not None
        monkeypatch.setattr(worker_client, "is_same_user", lambda connection: False)
        assert WorkerClient.connect(engine.config) is None


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
