"""Waits as the child does that builds an index: until its parent is gone."""

import threading

from vaultmem.stores import dense_build

threading.Thread(target=dense_build._die_with_the_parent).start()
print("waiting")
threading.Event().wait()
