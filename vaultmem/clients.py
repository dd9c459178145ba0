"""The agents' clients that vaultmem knows: it answers their hooks and writes their configuration."""

from __future__ import annotations

from enum import StrEnum


class Client(StrEnum):
    """A program in which an agent runs, by the word for it on the command line."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"


GENERIC = "generic"
"""The word for any other: what it needs is printed, to be pasted into its configuration."""
