"""The most memory, in MiB, that one command takes: command_memory.py WORDS…; its own words go to stderr."""

import resource
import sys

from vaultmem.cli.main import run

answer, sys.stdout = sys.stdout, sys.stderr
code = run(sys.argv[1:])
unit = 1024**2 if sys.platform == "darwin" else 1024
print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit, file=answer)
