"""How others start vaultmem: the program by its full path, with the memory root pinned.

A client, a service manager and a login shell each have their own PATH and environment. The root is written into
the command, because flags win over the environment: what a project sets for an agent cannot redirect it.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vaultmem.config import Config

PROGRAM = "vaultmem"
SERVER_NAME = "vaultmem"
"""Of the MCP server, in a client's configuration."""
HOOK_EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")
"""The events on which a client starts `vaultmem hook`."""
CLIENT_TIMEOUT_S = 5
"""What a client is told to wait for it at most; the hook itself ends within a second."""


def program() -> list[str]:
    """The words that start this vaultmem from anywhere."""
    script = Path(sys.executable).parent / PROGRAM
    return [str(script)] if script.is_file() else [sys.executable, "-m", PROGRAM]


def command_words(config: Config, *words: str) -> list[str]:
    """The words that run a command on this config's memory root."""
    from vaultmem.config import default_state_dir

    pinned = ["--root", str(config.root)]
    if config.state_dir != default_state_dir(config.root):
        pinned += ["--state-dir", str(config.state_dir)]
    return [*program(), *words, *pinned]


def is_own_command(words: list[str], *expected: str) -> bool:
    """The words run vaultmem (of any installation) with this command."""
    if not words:
        return False
    name = Path(words[0]).name
    rest = words[1:] if name == PROGRAM else words[3:] if words[1:3] == ["-m", PROGRAM] else None
    return rest is not None and tuple(rest[: len(expected)]) == expected


def split_command(command: str) -> list[str]:
    """The words of a shell command; none when it cannot be read as one."""
    try:
        return shlex.split(command)
    except ValueError:
        return []
