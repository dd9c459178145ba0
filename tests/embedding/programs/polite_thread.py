"""Lowers the priority of one thread and prints that of another."""

import os
import threading

from vaultmem.embedding.cores import lower_priority

thread = threading.Thread(target=lower_priority)
thread.start()
thread.join()
print(os.nice(0))
