"""Lets two names change places again and again until stdin ends, and ends with them as they were."""

import ctypes
import os
import select
import sys

rename = ctypes.CDLL(None, use_errno=True).renameat2
one, other = (os.fsencode(name) for name in sys.argv[1:3])
print("ready", flush=True)
turns = 0
while not select.select([sys.stdin], [], [], 0)[0] or turns % 2:
    assert rename(-100, one, -100, other, 2) == 0, os.strerror(ctypes.get_errno())
    turns += 1
print(turns)
