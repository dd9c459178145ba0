"""`vaultmem hook`, which a busy machine does not silence."""

import sys

from vaultmem.hooks import budget, entry

budget.PROCESS_S = 50.0
sys.exit(entry.run_hook(sys.argv[1:]))
