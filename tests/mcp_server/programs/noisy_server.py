"""`vaultmem mcp`, whose engine prints in every way there is while it is opened."""

import ctypes
import os
import subprocess
import sys

from vaultmem.config import Config
from vaultmem.mcp_server.server import run_mcp
from vaultmem.worker import nearest


class Noisy(nearest.Nearest):
    """Where a model would say that it is being loaded."""

    def _own(self):
        print("loading the model...")
        os.write(1, b"raw write\n")
        os.system("echo from a child")
        subprocess.run(["echo", "another child"], check=True)
        sys.stdout.flush()
        ctypes.CDLL(None).puts(b"from C")
        ctypes.CDLL(None).fflush(None)
        return super()._own()


nearest.Nearest = Noisy
sys.argv = ["vaultmem"]
print("before the server starts", file=sys.stderr)
run_mcp(Config.load())
