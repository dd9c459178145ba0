"""Processes that tag one note at the same time, each as the command line does: tags_at_once.py ROOT STATE_DIR N.

They are forked from one that has read its modules; each takes one byte from stdin before it begins.
"""

import os
import sys

from vaultmem.cli import edit_commands, render_json  # noqa: F401
from vaultmem.cli.main import run
from vaultmem.engine import engine  # noqa: F401

root, state_dir, count = sys.argv[1:4]
reading, writing = os.pipe()
children = []
for n in range(int(count)):
    if (child := os.fork()) == 0:
        os.close(writing)
        os.read(reading, 1)  # all begin when the parent lets go
        code = run(["--root", root, "--state-dir", state_dir, "tag", "a", "--add", f"tag{n}"])
        sys.stdout.flush()
        os._exit(code)
    children.append(child)
os.close(reading)
os.close(writing)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
print("codes", sorted(set(codes)), file=sys.stderr)
sys.exit(max(map(abs, codes)))
