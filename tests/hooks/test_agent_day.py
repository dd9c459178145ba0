"""A day of an agent: three sessions, 200 prompts, a worker that is killed and restarted, notes edited meanwhile."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from vaultmem.config import Config, EngineChoice
from vaultmem.engine.engine import Engine
from vaultmem.hooks.events import answer_hook
from vaultmem.hooks.process import worker_or_words
from vaultmem.hooks.usage import EventKind, SessionLog, Trigger
from vaultmem.worker.client import WorkerClient

FIRST = "anchor basil copper delta ember falcon garnet harbor indigo jasper kernel lagoon magnet nickel orchid pepper"
SECOND = (
    "quartz raven saffron timber umber velvet walnut xenon yarrow zephyr acorn birch cedar dune elm fjord"
)
WORDS = (*FIRST.split(), *SECOND.split())
PROMPTS = 200


@dataclass
class Vault:
    """The notes, by id: which are memories now, and since when one is none any more."""

    root: Path
    alive: dict[str, Path] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, number: int, status: str = "active") -> None:
        one, two = WORDS[number % len(WORDS)], WORDS[(number * 7 + 3) % len(WORDS)]
        path = self.root / "2026" / "05" / f"week{number % 4 + 1}" / f"note-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"---\nid: mem_{number}\nname: The {one} {two}\ndescription: What {one} does to {two} at night\n"
            f"tags: [{one}]\nstatus: {status}\n---\n\nThe {one} and the {two} met.\n"
        )
        if status == "active":
            self.alive[f"mem_{number}"] = path

    def edit_something(self, chance: random.Random) -> None:
        """What a person does in the editor meanwhile."""
        with self.lock:
            key = chance.choice(sorted(self.alive))
            path, number = self.alive[key], int(key[4:])
            match chance.randrange(4):
                case 0:
                    del self.alive[key]
                    path.unlink()
                case 1:
                    del self.alive[key]
                    self.write(number, "deprecated")
                case 2:
                    path.rename(path := path.with_name(f"moved-{number}-{chance.randrange(1000)}.md"))
                    self.alive[key] = path
                case _:
                    self.write(500 + chance.randrange(100))


@dataclass
class Client:
    """One session of an agent's client, which keeps what it was given."""

    name: str
    config: Config
    transcript: Path
    runs: list[list[tuple[Trigger, str]]] = field(default_factory=list)

    def hook(self, event: str, **fields: object) -> list[str]:
        data = {
            "hook_event_name": event,
            "session_id": self.name,
            "cwd": str(self.transcript.parent),
            **fields,
        }
        answer = answer_hook(self.config, "claude-code", json.dumps(data), worker_or_words(self.config))
        if not answer:
            return []
        context = json.loads(answer).get("hookSpecificOutput", {}).get("additionalContext", "")
        return [line[2:].split(" | ")[0] for line in context.splitlines() if line.startswith("- ")]

    def run(self, vault: Vault, chance: random.Random) -> None:
        """A prompt, two assistant turns with tools, a final turn."""
        with vault.lock:
            before = set(vault.alive)
        given = [(Trigger.USER, key) for key in self.hook("UserPromptSubmit", prompt=_question(chance))]
        for _ in range(2):
            words = {"role": "assistant", "content": [{"type": "text", "text": _question(chance)}]}
            with self.transcript.open("a") as file:
                file.write(json.dumps({"type": "assistant", "message": words}) + "\n")
            for _ in range(2):  # two parallel tools of one turn
                hinted = self.hook("PostToolUse", transcript_path=str(self.transcript), tool_name="Bash")
                given += [(Trigger.ASSISTANT, key) for key in hinted]
        self.hook("Stop", last_assistant_message=_question(chance))
        with vault.lock:
            gone = before - set(vault.alive)
        assert {key for _, key in given} <= before | set(vault.alive) | gone
        self.runs.append(given)


def _question(chance: random.Random) -> str:
    words = chance.sample(WORDS, 3)
    return f"what does {words[0]} do to {words[1]} and {words[2]} at night"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    vault = Vault(tmp_path / "vault" / "March Memories")
    for number in range(120):
        vault.write(number)
    return vault


@pytest.fixture
def config(vault: Vault, tmp_path: Path) -> Config:
    return Config(vault.root, tmp_path / "state", engine=EngineChoice.NONE, dirty_check_s=0.0)


class WatchProcess:
    """`vaultmem watch`, to be killed."""

    def __init__(self, config: Config) -> None:
        words = ["-m", "vaultmem", "watch", "--root", str(config.root), "--state-dir", str(config.state_dir)]
        self._command = [sys.executable, *words]
        self._config = config
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environ = {**os.environ, "VAULTMEM_EMBEDDER": "none"}
        self._process = subprocess.Popen(self._command, env=environ, stderr=subprocess.DEVNULL)
        waiting = threading.Event()
        for _ in range(600):
            client = WorkerClient.connect(self._config)
            if client is not None and client.pid == self._process.pid:
                return
            waiting.wait(0.05)
        raise AssertionError("the worker did not come up")

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None


@pytest.fixture
def watch(config: Config) -> Iterator[WatchProcess]:
    process = WatchProcess(config)
    yield process
    process.kill()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_day_keeps_every_rule(vault: Vault, config: Config, watch: WatchProcess, tmp_path: Path) -> None:
    chance = random.Random(7)
    with Engine.open(config=config) as engine:
        engine.sync()
    watch.start()
    clients = [Client(f"session-{n}", config, tmp_path / f"transcript-{n}.jsonl") for n in range(3)]
    for number in range(PROMPTS // 2):
        pair = clients[number % 3], clients[(number + 1) % 3]  # two at once, of different sessions
        threads = [
            threading.Thread(target=client.run, args=(vault, random.Random(number * 2 + place)))
            for place, client in enumerate(pair)
        ]
        for thread in threads:
            thread.start()
        if number % 3 == 0:
            vault.edit_something(chance)
        for thread in threads:
            thread.join()
        if number in (30, 70):
            watch.kill()
        if number in (40, 75):
            watch.start()
    assert sum(len(client.runs) for client in clients) == PROMPTS
    for client in clients:
        _check_session(client)
    failures = (config.state_dir / "hook.log").read_text() if (config.state_dir / "hook.log").exists() else ""
    assert all(line.endswith("in time") for line in failures.splitlines()), (
        failures
    )  # a busy machine may be slow
    with Engine.open(config=config) as engine:
        watch.kill()
        engine.sync()
        assert {note.id for note in engine.notes() if note.admitted} == set(vault.alive)
        assert engine.doctor().caches_agree


def _check_session(client: Client) -> None:
    assert sum(len(given) for given in client.runs) > 50
    for number, given in enumerate(client.runs):
        ids = [key for _, key in given]
        assert len(ids) == len(set(ids)), "an id twice in a run"
        lately = {key for run in client.runs[max(0, number - 10) : number] for _, key in run}
        assert not lately & {key for trigger, key in given if trigger is Trigger.USER}, (
            "a hint repeated in the window"
        )
        assert len([key for trigger, key in given if trigger is Trigger.USER]) <= 3
    recorded: dict[int, list[tuple[Trigger | None, str | None]]] = defaultdict(list)
    log = SessionLog(client.config.root, client.name)
    for event in log.read():
        if event.kind is EventKind.HINTED:
            recorded[event.run].append((event.trigger, event.id))
    assert [recorded[number + 1] for number in range(len(client.runs))] == client.runs, (
        "an event lost or invented"
    )
    assert len(log.path.read_bytes().splitlines()) == len(list(log.read()))


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_twenty_hooks_at_once_are_answered_and_get_their_own_sessions_state(
    config: Config, watch: WatchProcess, tmp_path: Path
) -> None:
    with Engine.open(config=config) as engine:
        engine.sync()
    watch.start()
    words = [
        "-m",
        "vaultmem",
        "hook",
        "claude-code",
        "--root",
        str(config.root),
        "--state-dir",
        str(config.state_dir),
    ]
    prompt, pipe = "what does anchor do to delta at night", subprocess.PIPE

    def answers() -> list[str]:
        processes = [
            subprocess.Popen(
                [sys.executable, *words],
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                text=True,
            )
            for _ in range(20)
        ]
        events = [
            {"hook_event_name": "UserPromptSubmit", "session_id": f"s{n}", "prompt": prompt}
            for n in range(20)
        ]
        results = []
        for process, event in zip(processes, events, strict=True):
            out, error = process.communicate(json.dumps(event), timeout=60)
            assert (process.returncode, error) == (0, "")
            results.append(out)
        return results

    first = answers()
    assert len(set(filter(None, first))) == 1  # a busy machine may make some of them silent
    again = answers()  # each session has seen its own hints, and no other's
    for one, two in zip(first, again, strict=True):
        assert not set(_ids(one)) & set(_ids(two))


def _ids(output: str) -> list[str]:
    context = json.loads(output)["hookSpecificOutput"]["additionalContext"] if output else ""
    return [line.split(" | ")[0] for line in context.splitlines() if line.startswith("- ")]
