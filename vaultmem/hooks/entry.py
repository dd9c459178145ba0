# ruff: noqa: PTH100, PTH111
"""`vaultmem hook CLIENT` at its quickest: hand the event to the worker, print what it says, end.

A prompt waits for this process, and twenty may start at once, so it imports next to nothing: no settings, no
dataclasses, no hashing. Where it cannot be sure, it goes the long way, through `process`.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence

from vaultmem.hooks import budget
from vaultmem.worker.address import PROTOCOL, Address, find_address, is_ours

INPUT_LIMIT_BYTES = 32 << 20

PLACES = {"MARCH_MEMORY_ROOT", "VAULTMEM_STATE_DIR"}
"""What of the environment the shortcut understands; any other setting goes the long way."""


def run_hook(words: Sequence[str], environ: Mapping[str, str] = os.environ) -> int:
    """Answer one event: always 0, within a second, and nothing on stdout but an answer."""
    started = time.monotonic()
    _end_in_time(budget.PROCESS_S + 2 * budget.GRACE_S)
    named, client = places_and_client(words)
    data = _read_event()
    answer = ask_worker(client, named, data, environ)
    if answer is None:
        answer = long_way(client, named, data, budget.PROCESS_S - (time.monotonic() - started))
    _end_in_time(0)
    _write(answer)
    return 0


def _read_event() -> bytes:
    """What is on stdin; nothing where it cannot be read, such as a folder."""
    try:
        return sys.stdin.buffer.read(INPUT_LIMIT_BYTES)
    except (OSError, ValueError):
        return b""


def places_and_client(words: Sequence[str]) -> tuple[dict[str, str], str]:
    """The flags that name places, and the client."""
    named: dict[str, str] = {}
    rest: list[str] = []
    queue = iter(words)
    for word in queue:
        flag, equals, value = word.partition("=")
        if flag in ("--root", "--state-dir"):
            named[flag] = value if equals else next(queue, "")
        elif not word.startswith("-"):
            rest.append(word)
    return named, rest[0] if rest else ""


def ask_worker(
    client: str, named: Mapping[str, str], data: bytes, environ: Mapping[str, str]
) -> bytes | None:
    """What the worker of this memory root answers; None: there is none, or it is not for it to say."""
    address = _address(named, environ)
    if address is None:
        return None
    request = {
        "v": PROTOCOL,
        "method": "hook",
        "params": {"client": client, "text": data.decode("utf-8", "replace")},
    }
    try:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with connection:
            connection.settimeout(budget.WORKER_S)
            connection.connect(address.socket)
            connection.sendall(json.dumps(request).encode() + b"\n")
            line = connection.makefile("rb").readline()
        answer = json.loads(line)
        return str(answer["result"]).encode("utf-8", "replace")
    except TimeoutError:
        return b""  # it is busy with the same event: asking twice would answer twice
    except (OSError, ValueError, KeyError, TypeError):
        return None


def long_way(client: str, named: Mapping[str, str], data: bytes, left_s: float) -> bytes:
    """What `hook_process` says, in a child that can be killed: loading a library may hold every thread for seconds."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            _end_in_time(0)
            from vaultmem.hooks.process import hook_process

            _write_all(writer, hook_process(client, named, data, left_s))
        finally:
            os._exit(0)
    os.close(writer)
    said = _read_in_time(reader, left_s + budget.GRACE_S)
    if said is None:
        os.kill(child, signal.SIGKILL)
    return said or b""


def _read_in_time(descriptor: int, seconds: float) -> bytes | None:
    """All that comes until the other end is closed; None when that takes too long."""
    deadline = time.monotonic() + seconds
    blocks: list[bytes] = []
    while select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
        block = os.read(descriptor, 1 << 16)
        if not block:
            return b"".join(blocks)
        blocks.append(block)
    return None


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _address(named: Mapping[str, str], environ: Mapping[str, str]) -> Address | None:
    root = named.get("--root") or environ.get("MARCH_MEMORY_ROOT")
    if not root:
        return None
    if any(key.startswith(("VAULTMEM_", "MARCH_MEMORY_")) and key not in PLACES for key in environ):
        return None
    address = find_address(os.path.abspath(os.path.expanduser(root)))
    if address is None or not is_ours(address):
        return None
    state_dir = named.get("--state-dir") or environ.get("VAULTMEM_STATE_DIR")
    if state_dir:
        is_meant = address.state_dir == os.path.abspath(os.path.expanduser(state_dir))
    else:
        is_meant = address.is_default_state_dir
    return address if is_meant else None


def _end_in_time(seconds: float) -> None:
    """End the process with 0 and silence after so long; 0 takes that back."""
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _write(data: bytes) -> None:
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError:
        os._exit(0)  # the client went away; Python would complain about it at exit
