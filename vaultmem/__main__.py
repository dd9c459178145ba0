"""The entry point of `vaultmem` and `python -m vaultmem`."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run the command line; returns its exit code."""
    _use_utf8()
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"}.intersection(
        sys.argv
    ):  # on every prompt: the grammar of the others is not worth waiting for
        from vaultmem.shortcut import hook

        return hook(sys.argv[2:])
    from vaultmem.cli import run

    return run(sys.argv[1:])


def _use_utf8() -> None:
    """Notes and file names are UTF-8 whatever the locale says; only a fresh interpreter can still change its mind."""
    if sys.getfilesystemencoding().lower().replace("-", "") == "utf8" or os.environ.get("PYTHONUTF8") == "1":
        return
    os.environ["PYTHONUTF8"] = "1"
    os.execv(sys.executable, [sys.executable, "-m", "vaultmem", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
