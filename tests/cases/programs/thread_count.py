"""Embeds on one thread; prints how many threads there are, and how many cores were busy meanwhile."""

import os
import time

from vaultmem.embedding.embedder import open_embedder

engine = open_embedder("bundled", threads=1)
assert engine is not None
engine.passages(["warm up"])
wall, cpu = time.perf_counter(), time.process_time()
for n in range(8):
    engine.passages([f"a memory about thread {n} and the cache, number {i}" for i in range(4)])
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print(len(os.listdir("/proc/self/task")), cpu / wall)
