"""A busy day in minutes: a real `watch` and a real MCP server while notes come, change, move and go.

python scripts/soak.py [--minutes 20] [--per-second 4] [--notes 110]      (or: make soak)

Prints what the processes and the state dir hold as time goes, and ends with 1 when something grows that should be
flat: memory, descriptors, threads, disk. A third of the time is for warming up. Linux only: it reads /proc.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

PROJECT = Path(__file__).parents[1]
VAULTMEM = [sys.executable, "-m", "vaultmem"]
SAMPLE_EVERY_S = 10.0
STATE_GROWTH = 4.0
"""The state dir may hold this many times what it holds after a fresh sync of the same notes…"""
STATE_FILES = 100
"""… and this many files."""
PROMPTS = ("why was the cache cold?", "缓存 为什么 失效", "error E0277 in the parser", "weekend plans")
WORDS = (
    "cache",
    "缓存",
    "parser",
    "webhook",
    "E0277",
    "invoice",
    "retry",
    "顺序",
    "timeout",
    "ledger",
    "migration",
    "提示词",
    "queue",
    "token",
)


@dataclass(frozen=True, slots=True)
class Sample:
    """What one moment held."""

    at_s: float
    watch_mb: float
    mcp_mb: float
    descriptors: int  # of both, like threads
    threads: int
    disk_bytes: int
    disk_files: int


class Agent:
    """An MCP client that speaks the protocol line by line."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [*VAULTMEM, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
        )
        self._number = 0
        info = {"name": "soak", "version": "0"}
        self._ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=info)
        self._send({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments: object) -> dict[str, object]:
        """What a tool answered."""
        return self._ask("tools/call", name=tool, arguments=arguments)

    def _ask(self, method: str, **params: object) -> dict[str, object]:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            answer = json.loads(cast(IO[str], self.process.stdout).readline())
            if answer.get("id") == self._number:
                return cast(dict[str, object], answer.get("result", {}))

    def _send(self, message: dict[str, object]) -> None:
        stdin = cast(IO[str], self.process.stdin)
        stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        stdin.flush()


class Vault:
    """The notes, as a person, a sync tool and an agent treat them."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root, self._chance, self._made = root, chance, 0

    def files(self) -> list[Path]:
        return sorted(self.root.rglob("*.md"))

    def add(self) -> None:
        self._made += 1
        file = self.root / "2026" / f"{self._made % 12 + 1:02}" / f"note-{self._made}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f"---\nid: mem_{self._made}\nname: {self._words(3)}\ndescription: {self._words(6)}\n"
            f"tags: [{self._chance.choice(WORDS)}]\nstatus: active\n---\n\n{self._words(80)}\n",
            "utf-8",
        )

    def edit(self) -> None:
        """As editors save: in place, or by a rename."""
        file = self._chance.choice(self.files())
        text = file.read_text("utf-8").rpartition("\n\n")[0] + f"\n\n{self._words(80)}\n"
        if self._chance.random() < 0.5:
            file.write_text(text, "utf-8")
        else:
            new = file.with_suffix(".new")
            new.write_text(text, "utf-8")
            new.replace(file)

    def move(self) -> None:
        file = self._chance.choice(self.files())
        folder = self.root / f"moved-{self._chance.randrange(5)}"
        folder.mkdir(exist_ok=True)
        file.rename(folder / file.name)

    def delete(self) -> None:
        self._chance.choice(self.files()).unlink()

    def _words(self, count: int) -> str:
        return " ".join(self._chance.choices(WORDS, k=count))


def live_a_moment(vault: Vault, agent: Agent, environ: dict[str, str], chance: random.Random) -> None:
    """One thing that happens in a vault."""
    match chance.choices(("edit", "replace", "move", "save", "ask", "hook"), (40, 10, 5, 10, 25, 10))[0]:
        case "edit":
            vault.edit()
        case "replace":
            vault.delete()
            vault.add()
        case "move":
            vault.move()
        case "save":
            memory = {"name": chance.choice(WORDS), "description": "saved", "tags": ["soak"], "body": "text"}
            agent.call("memory_save", **memory)
            vault.delete()
        case "ask":
            agent.call("memory_search", query=chance.choice(PROMPTS))
        case "hook":
            event = {
                "hook_event_name": "UserPromptSubmit",
                "session_id": f"session-{chance.randrange(40)}",
                "prompt": chance.choice(PROMPTS),
                "cwd": str(PROJECT),
            }
            command = [*VAULTMEM, "hook", "--client", "claude-code"]
            subprocess.run(
                command, input=json.dumps(event), text=True, env=environ, stdout=subprocess.DEVNULL
            )


def say(line: str) -> None:
    """A line at once, also into a pipe."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def weigh(folder: Path) -> tuple[int, int]:
    """Bytes and number of the files below a folder; what vanishes meanwhile counts nothing."""
    sizes = []
    for file in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if file.is_file():
                sizes.append(file.stat().st_size)
    return sum(sizes), len(sizes)


def sample(at_s: float, pids: list[int], state_dir: Path) -> Sample:
    memory_mb, descriptors, threads = list[float](), 0, 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
        facts = dict(line.split(":", 1) for line in lines)
        memory_mb.append(int(facts["VmRSS"].split()[0]) / 1024)
        threads += int(facts["Threads"])
        descriptors += len(list(Path(f"/proc/{pid}/fd").iterdir()))
    watch_mb, mcp_mb = memory_mb
    return Sample(at_s, watch_mb, mcp_mb, descriptors, threads, *weigh(state_dir))


def growth(samples: list[Sample], field: str) -> tuple[float, float]:
    """The medians of a field after the warming up, and at the end."""
    values = [float(getattr(each, field)) for each in samples]
    third = max(1, len(values) // 3)
    return statistics.median(values[third : 2 * third]), statistics.median(values[-third:])


def judge(samples: list[Sample], fresh_bytes: int) -> list[str]:
    """What grew that should be flat; nothing when all is well."""
    wrong = []
    limits = (("watch_mb", 1.1, 8), ("mcp_mb", 1.1, 8), ("descriptors", 1.0, 8), ("threads", 1.0, 2))
    for field, factor, slack in limits:
        before, after = growth(samples, field)
        if after > before * factor + slack:
            wrong.append(f"{field} grew from {before:.0f} to {after:.0f}")
    settled = samples[len(samples) // 3 :]
    if (largest := max(each.disk_bytes for each in settled)) > STATE_GROWTH * fresh_bytes:
        wrong.append(f"the state dir held {largest:,} bytes, {largest / fresh_bytes:.1f} times a fresh one")
    if (most := max(each.disk_files for each in settled)) > STATE_FILES:
        wrong.append(f"the state dir held {most} files")
    return wrong


def fresh_size(environ: dict[str, str], folder: Path) -> int:
    """What a state dir holds that was just made of the same notes."""
    state_dir = folder / "fresh"
    subprocess.run([*VAULTMEM, "sync"], env={**environ, "VAULTMEM_STATE_DIR": str(state_dir)}, check=True)
    return weigh(state_dir)[0]


def soak(folder: Path, minutes: float, per_second: float, notes: int) -> int:
    """Live, look, judge; the exit status."""
    chance = random.Random(20261201)
    root, state_dir = folder / "vault" / "March Memories", folder / "state"
    root.mkdir(parents=True)
    (folder / "config.toml").touch()
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("VAULTMEM_", "MARCH_"))}
    environ |= {
        "VAULTMEM_CONFIG": str(folder / "config.toml"),
        "MARCH_MEMORY_ROOT": str(root),
        "VAULTMEM_STATE_DIR": str(state_dir),
        "XDG_RUNTIME_DIR": str(folder),
        "OMP_WAIT_POLICY": "passive",
    }
    vault = Vault(root, chance)
    for _ in range(notes):
        vault.add()
    subprocess.run([*VAULTMEM, "sync"], env=environ, check=True)
    quiet = subprocess.DEVNULL
    with subprocess.Popen([*VAULTMEM, "watch"], env=environ, stdout=quiet, stderr=quiet) as watch:
        agent = Agent(environ)
        try:
            samples = live(vault, agent, watch, environ, chance, minutes, per_second, state_dir)
        finally:
            for process in (agent.process, watch):
                process.send_signal(signal.SIGTERM)
                process.wait(30)
    subprocess.run([*VAULTMEM, "sync"], env=environ, check=True)
    fresh = fresh_size(environ, folder)
    wrong = judge(samples, fresh)
    say(f"fresh state dir: {fresh:,} bytes; after the run and a sync: {weigh(state_dir)[0]:,} bytes")
    say("\n".join(wrong) or "flat: memory, descriptors, threads, disk")
    return 1 if wrong else 0


def live(
    vault: Vault,
    agent: Agent,
    watch: subprocess.Popen[bytes],
    environ: dict[str, str],
    chance: random.Random,
    minutes: float,
    per_second: float,
    state_dir: Path,
) -> list[Sample]:
    """Let things happen, and look every ten seconds."""
    samples, done, started, next_look = list[Sample](), 0, time.monotonic(), 0.0
    say(
        f"{'minute':>8} {'done':>6} {'watch':>8} {'mcp':>7} {'fds':>5} {'threads':>8} {'disk':>10} {'files':>6}"
    )
    while (passed := time.monotonic() - started) < minutes * 60:
        live_a_moment(vault, agent, environ, chance)
        done += 1
        if passed >= next_look:
            samples.append(sample(passed, [watch.pid, agent.process.pid], state_dir))
            next_look += SAMPLE_EVERY_S
            last = samples[-1]
            say(
                f"{passed / 60:8.1f} {done:6} {last.watch_mb:6.0f}MB {last.mcp_mb:5.0f}MB"
                f" {last.descriptors:5} {last.threads:8} {last.disk_bytes / 1e6:8.1f}MB {last.disk_files:6}"
            )
        time.sleep(max(0.0, done / per_second - (time.monotonic() - started)))
    return samples


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--per-second", type=float, default=4, help="things that happen in a second")
    parser.add_argument("--notes", type=int, default=110)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vm-") as place:
        sys.exit(soak(Path(place), asked.minutes, asked.per_second, asked.notes))
