"""A holder of the lock that forks: what the child says of it, and whether it is free when the parent lets go."""

import os
import signal
import sys
from pathlib import Path

from vaultmem.files.lock import WriterLock

path = Path(sys.argv[1])
lock = WriterLock(path)
assert lock.try_acquire()
read_end, write_end = os.pipe()
child = os.fork()
if child == 0:
    os.write(write_end, b"held" if lock.is_held or lock.try_acquire() else b"free")
    signal.pause()
print(os.read(read_end, 4).decode(), lock.is_held)
lock.release()
print(WriterLock(path).try_acquire())
os.kill(child, signal.SIGKILL)
