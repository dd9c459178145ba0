"""NAMES WORD...: run a command; on stderr its exit code, and which of these modules it has loaded."""

import sys

from vaultmem.cli.main import run

try:
    code = run(sys.argv[2:])
except SystemExit as ended:
    code = ended.code
print(code, *[name for name in sys.argv[1].split(",") if name in sys.modules], file=sys.stderr)
