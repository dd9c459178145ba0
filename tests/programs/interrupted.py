"""`vaultmem status`, interrupted while its modules are loaded."""

import sys

from vaultmem.__main__ import main


class Interrupting:
    """Ctrl-C, at the next module of ours."""

    def find_spec(self, name, path=None, target=None):
        if name.startswith("vaultmem."):
            raise KeyboardInterrupt


sys.meta_path.insert(0, Interrupting())
sys.argv = ["vaultmem", "status"]
sys.exit(main())
