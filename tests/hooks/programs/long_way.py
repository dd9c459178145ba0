"""STATE_DIR KIND: the long way of a hook, its event on stdin, where what has to answer is of this kind."""

import ctypes
import os
import sys
import time
from pathlib import Path

from vaultmem.config import Config
from vaultmem.errors import ConfigError
from vaultmem.hooks import entry, events, failures

state, kind = sys.argv[1:]
client, budget_s = "claude-code", 5.0


def noisy(*_):
    print("noise", flush=True)
    os.write(1, b"more noise")
    os.system("echo child")
    return {"systemMessage": "said"}


def wrong_settings(**_):
    raise ConfigError("config.toml: there is no setting `x`")


match kind:
    case "hangs":
        events.answer_event = lambda *_: (print("noise"), time.sleep(20))
        budget_s = 0.3
    case "holds every thread":  # PyDLL keeps the interpreter's lock
        events.answer_event = lambda *_: ctypes.PyDLL(None).sleep(20)
        budget_s = 0.3
    case "is noisy":
        events.answer_event = noisy
    case "has wrong settings":
        Config.load = wrong_settings
        failures._fallback_folder = lambda: Path(state)
    case "is asked by an unknown client":
        client = "x"

places = {"--root": f"{state}-notes", "--state-dir": state}
os.write(1, entry.long_way(client, places, sys.stdin.buffer.read(), budget_s))
