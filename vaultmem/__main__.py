"""The entry point of `vaultmem` and `python -m vaultmem`."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130
"""As a shell tells it of a process that a signal ended: 128 and the number of SIGINT."""
FAILED = 3
"""As of any error that nobody foresaw."""


def main() -> int:
    """Run the command line; returns its exit code."""
    try:
        _use_utf8()
        _open_closed_streams()
        return _run(sys.argv[1:])
    except KeyboardInterrupt:  # also while modules are loaded
        return INTERRUPTED


def _run(words: list[str]) -> int:
    if words[:1] == ["hook"] and not {"-h", "--help"}.intersection(
        words
    ):  # on every prompt: the grammar of the others is not worth waiting for
        from vaultmem.hooks.entry import run_hook

        return run_hook(words[1:])
    from vaultmem.cli.main import run

    try:
        return run(words)
    except Exception as error:  # let out by --debug alone
        return _show_traceback(error)


def _show_traceback(error: Exception) -> int:
    """What Python would print, less what a terminal would act on: paths and texts of notes stand in it."""
    import traceback

    from vaultmem.cli.output import narrate_lines

    narrate_lines("".join(traceback.format_exception(error)).rstrip())
    return int(getattr(error, "exit_code", FAILED))


def _open_closed_streams() -> None:
    """Give a process that was started without a standard stream one that holds nothing and takes no answer.

    Else the next file that is opened gets the stream's number, and what is meant for people is written into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # stdout is opened for reading: writing to it fails, and is told, as it should be
            descriptor = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            if descriptor != number:  # the number is taken by now, by a file that is not ours to replace
                os.close(descriptor)
                descriptor = os.open(os.devnull, os.O_RDWR)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", closefd=False))


def _use_utf8() -> None:
    """Notes and file names are UTF-8 whatever the locale says; only a fresh interpreter can still change its mind."""
    if sys.getfilesystemencoding().lower().replace("-", "") == "utf8" or os.environ.get("PYTHONUTF8") == "1":
        return
    os.environ["PYTHONUTF8"] = "1"
    os.execv(sys.executable, [sys.executable, "-m", "vaultmem", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
