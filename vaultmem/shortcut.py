# ruff: noqa: PTH100, PTH111
"""`vaultmem hook CLIENT` at its quickest: hand the event to the worker, print what it says, end.

A prompt waits for this process, and twenty may start at once, so it imports next to nothing: no settings, no
dataclasses, no hashing. Where it cannot be sure, it goes the long way, through `hooks`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from vaultmem.runtime import ADDRESS_PROTOCOL, find_address

BUDGET_S = 0.9
"""Of the whole process; what is left of a second is Python's own start and end."""
WORKER_TIMEOUT_S = 0.8
INPUT_LIMIT_BYTES = 32 << 20
CLIENTS = ("claude-code", "codex")

PLACES = {"MARCH_MEMORY_ROOT", "VAULTMEM_STATE_DIR"}
"""What of the environment the shortcut understands; any other setting goes the long way."""


def hook(words: Sequence[str], environ: Mapping[str, str] = os.environ) -> int:
    """Answer one event: always 0, within BUDGET_S, and nothing on stdout but an answer."""
    started = time.monotonic()
    _end_in_time()
    named, client = read_words(words)
    data = sys.stdin.buffer.read(INPUT_LIMIT_BYTES)
    answer = ask_worker(client, named, data, environ)
    if answer is None:
        _end_in_time(0)
        from vaultmem.hooks import hook_process

        left_s = BUDGET_S - (time.monotonic() - started)
        return hook_process(client, named, data, left_s)
    _end_in_time(0)
    _write(answer)
    return 0


def read_words(words: Sequence[str]) -> tuple[dict[str, str], str]:
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
    address = None if client not in CLIENTS else _address(named, environ)
    if address is None:
        return None
    request = {
        "v": ADDRESS_PROTOCOL,
        "method": "hook",
        "params": {"client": client, "text": data.decode("utf-8", "replace")},
    }
    try:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with connection:
            connection.settimeout(WORKER_TIMEOUT_S)
            connection.connect(address["socket"])
            connection.sendall(json.dumps(request).encode() + b"\n")
            line = connection.makefile("rb").readline()
        answer = json.loads(line)
        return str(answer["result"]).encode("utf-8", "replace")
    except TimeoutError:
        return b""  # it is busy with the same event: asking twice would answer twice
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _address(named: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, Any] | None:
    root = named.get("--root") or environ.get("MARCH_MEMORY_ROOT")
    if not root or not hasattr(socket, "AF_UNIX"):
        return None
    if any(key.startswith(("VAULTMEM_", "MARCH_MEMORY_")) and key not in PLACES for key in environ):
        return None
    address = find_address(os.path.abspath(os.path.expanduser(root)))
    if address is None or not address.get("socket"):
        return None
    state_dir = named.get("--state-dir") or environ.get("VAULTMEM_STATE_DIR")
    if state_dir:
        is_meant = address.get("state_dir") == os.path.abspath(os.path.expanduser(state_dir))
    else:
        is_meant = address.get("is_default_state_dir") is True
    return address if is_meant else None


def _end_in_time(seconds: float = BUDGET_S) -> None:
    """End the process with 0 and silence after so long; 0 takes that back."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _write(data: bytes) -> None:
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError:
        os._exit(0)  # the client went away; Python would complain about it at exit
