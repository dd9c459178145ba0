"""What went wrong in a hook, as lines of `hook.log` in the state dir: the client itself is told nothing."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from vaultmem.errors import VaultmemError
from vaultmem.files import beneath
from vaultmem.files.state_dir import make_own
from vaultmem.text.shown import harmless

LOG_FILE = "hook.log"
LOG_LIMIT_BYTES = 256 << 10


def log_failure(state_dir: Path | None, client: str, event: str, error: Exception) -> None:
    """One line in `hook.log`, which is kept short. Never raises; a prompt's text is never in it."""
    try:
        if state_dir is None:
            state_dir = _fallback_folder()
            state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        else:
            make_own(state_dir)
        kind = "" if isinstance(error, VaultmemError) else f"{type(error).__name__}: "
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = f"{at} {harmless(client)} {harmless(event)} {kind}{harmless(str(error))[:300]}\n"
        with beneath.folder(state_dir) as folder:
            _rotate(folder)
            with beneath.opened(folder, LOG_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as descriptor:
                os.write(descriptor, line.encode("utf-8", "replace"))
    except OSError:
        return


def _rotate(folder: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        if os.stat(LOG_FILE, dir_fd=folder, follow_symlinks=False).st_size > LOG_LIMIT_BYTES:
            os.rename(LOG_FILE, f"{LOG_FILE}.1", src_dir_fd=folder, dst_dir_fd=folder)


def _fallback_folder() -> Path:
    """Where to log when the settings themselves are the trouble."""
    from platformdirs import user_state_path

    return user_state_path("vaultmem")
