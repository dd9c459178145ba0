"""`vaultmem watch` as a process: an event a line, an end in order, and one that takes over."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.shell import TIME


class Following:
    """`watch --json`, read line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.events: list[dict[str, Any]] = []

    def wait_for(self, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """The next event that `holds`; the process is killed when it does not come in time."""
        timer = threading.Timer(40.0, self.process.kill)
        timer.start()
        try:
            assert self.process.stdout is not None
            for line in self.process.stdout:
                self.events.append(json.loads(line))
                if holds(self.events[-1]):
                    return self.events[-1]
            raise AssertionError(f"it ended after {self.events}")
        finally:
            timer.cancel()


@pytest.fixture
def watching(shell) -> Iterator[Following]:
    with shell.process("watch", "--json") as process:
        yield Following(process)
        if process.poll() is None:
            process.kill()


def test_watch_tells_an_event_a_line_and_ends_in_order(shell, watching):
    mode = watching.wait_for(lambda event: event["event"] == "WatcherChanged")
    assert mode["mode"] == "native" and TIME.fullmatch(mode["at"])
    shell.note("a.md", "a")
    found = watching.wait_for(lambda event: event["event"] == "SyncFinished")
    assert found["report"]["added"] == 1 and found["report"]["paths"] == ["a.md"]
    while (status := shell.json("status"))["watcher"] == "off":
        pass  # a busy machine may tell of a sync before it has published how it watches
    assert status["watcher"] == "native"
    assert status["writer"] == {"pid": watching.process.pid, "alive": True}
    assert shell.json("open", "a")["id"] == "a"
    watching.process.send_signal(signal.SIGINT)
    _, err = watching.process.communicate(timeout=10)
    assert watching.process.returncode == 0 and err == b""
    assert shell.json("status")["writer"] == {"pid": None, "alive": False}


def test_watch_ends_when_nobody_reads_its_events_any_more(shell, watching):
    watching.wait_for(lambda event: event["event"] == "WatcherChanged")
    watching.process.stdout.close()
    shell.note("a.md", "a")
    assert watching.process.wait(20) == 0
    assert watching.process.stderr.read() == b""


def test_watch_beside_another_one_takes_over_and_answers_for_it(shell, watching):
    watching.wait_for(lambda event: event["event"] == "WatcherChanged")
    with shell.process("watch", "--json") as process:
        second = Following(process)
        second.wait_for(lambda event: event["event"] == "WatcherChanged")
        watching.process.send_signal(signal.SIGKILL)
        watching.process.wait()
        second.wait_for(lambda event: event["event"] == "LockChanged" and event["is_writer"])
        shell.note("a.md", "a")
        second.wait_for(lambda event: event["event"] == "SyncFinished")
        assert [h["id"] for h in shell.json("recall", "alpha", "--min-score", "0")["hints"]] == ["a"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


@pytest.fixture
def stranger() -> Iterator[tuple[int, Path]]:
    """A user of this machine who runs nothing else, and a home of theirs."""
    uid = 54_321
    home = Path(tempfile.mkdtemp(prefix="home-of-somebody-with-a-long-name-", dir="/tmp"))
    (home / "notes").mkdir()
    for folder in (home, home / "notes"):
        os.chown(folder, uid, uid)
    place = Path(f"/tmp/vaultmem-{uid}")
    shutil.rmtree(place, ignore_errors=True)
    yield uid, home
    shutil.rmtree(home)
    shutil.rmtree(place, ignore_errors=True)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs two users")
@pytest.mark.parametrize("state", [".local/state", "a-folder-with-a-long-name/" * 3 + "state"])
def test_a_place_in_tmp_that_somebody_else_took_does_not_end_the_worker(stranger, state):
    uid, home = stranger
    Path(f"/tmp/vaultmem-{uid}").mkdir(mode=0o700)  # by root: the user can neither use nor remove it
    words = [
        "setpriv",
        f"--reuid={uid}",
        f"--regid={uid}",
        "--clear-groups",
        sys.executable,
        "-m",
        "vaultmem",
    ]
    environ = {
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / state),
        "PATH": os.environ["PATH"],
        "MARCH_MEMORY_ROOT": str(home / "notes"),
        "VAULTMEM_EMBEDDER": "none",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    if subprocess.run([*words, "--version"], env=environ, capture_output=True, check=False).returncode:
        pytest.skip("another user cannot run this checkout")
    with subprocess.Popen([*words, "watch"], env=environ, stderr=subprocess.PIPE, text=True) as process:
        asked = [*words, "service", "status"]
        deadline = time.monotonic() + 60
        while subprocess.run(asked, env=environ, capture_output=True, check=False).returncode:
            assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0 and "cannot find this worker" not in err
    assert not list(Path(f"/tmp/vaultmem-{uid}").iterdir())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_watch_ends_in_order_when_it_is_told_to_or_its_terminal_goes(shell, watching, number):
    watching.wait_for(lambda event: event["event"] == "WatcherChanged")
    watching.process.send_signal(number)
    _, err = watching.process.communicate(timeout=60)
    assert watching.process.returncode == 0 and err == b""
    assert shell.json("status")["writer"] == {"pid": None, "alive": False}


def test_watch_outlives_its_terminal_where_it_was_asked_to(shell):
    nohup = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
    with shell.process("watch", "--json", **nohup) as process:
        following = Following(process)
        following.wait_for(lambda event: event["event"] == "WatcherChanged")
        process.send_signal(signal.SIGHUP)
        shell.note("a.md", "a")
        following.wait_for(lambda event: event["event"] == "SyncFinished" and event["report"]["added"])
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
