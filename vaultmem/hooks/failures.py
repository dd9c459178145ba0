"""What went wrong in a hook, as lines of `hook.log` in the state dir: the client itself is told nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path

from vaultmem.errors import VaultmemError
from vaultmem.text.shown import harmless

LOG_LIMIT_BYTES = 256 << 10


def log_failure(state_dir: Path | None, client: str, event: str, error: Exception) -> None:
    """One line in `hook.log`, which is kept short. Never raises; a prompt's text is never in it."""
    try:
        folder = state_dir or _fallback_folder()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / "hook.log"
        if path.exists() and path.stat().st_size > LOG_LIMIT_BYTES:
            path.replace(path.with_suffix(".log.1"))
        kind = "" if isinstance(error, VaultmemError) else f"{type(error).__name__}: "
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = f"{at} {harmless(client)} {harmless(event)} {kind}{harmless(str(error))[:300]}\n"
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line.encode("utf-8", "replace"))
        finally:
            os.close(descriptor)
    except OSError:
        return


def _fallback_folder() -> Path:
    """Where to log when the settings themselves are the trouble."""
    from platformdirs import user_state_path

    return user_state_path("vaultmem")
