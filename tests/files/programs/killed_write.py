"""A process that is killed in the middle of a write: just before the new text takes the old one's place."""

import os
import signal
import sys
from pathlib import Path

from vaultmem.files import replacement
from vaultmem.files.vault import Vault

replacement._take_after = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
Vault(Path(sys.argv[1])).replace("n.md", b"old", b"new")
