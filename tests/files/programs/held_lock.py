"""A process that takes the lock, says whether it got it, and ends when it is told to."""

import sys
from pathlib import Path

from vaultmem.files.lock import WriterLock

lock = WriterLock(Path(sys.argv[1]))
print("held" if lock.try_acquire() else "busy", flush=True)
sys.stdin.readline()
