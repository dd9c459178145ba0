"""What is logged, told so that no terminal acts on it: exceptions speak of paths and texts as they are."""

from __future__ import annotations

import logging

from vaultmem.text.shown import harmless_block


class HarmlessFormatter(logging.Formatter):
    """Records as `logging` words them, tracebacks and all, without what could act on a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record in words."""
        return harmless_block(super().format(record))


def log_harmlessly() -> None:
    """Let what is logged where nobody set up a log, which goes to stderr, pass through it."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(HarmlessFormatter())
