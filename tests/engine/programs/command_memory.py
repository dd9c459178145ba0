"""The most memory, in MiB, that one command takes: command_memory.py WORDS…; its own words go to stderr."""

import resource
import sys
from pathlib import Path

from vaultmem.cli.main import run


def peak_mib() -> int:
    """The system's `ru_maxrss` also counts what the parent had when it forked; Linux tells what is our own."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024**2
    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) // 1024


answer, sys.stdout = sys.stdout, sys.stderr
code = run(sys.argv[1:])
print(code, peak_mib(), file=answer)
