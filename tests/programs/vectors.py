"""TEXT: the vector that another process makes of it."""

import sys

from vaultmem.testing import HashingEmbedder

print(HashingEmbedder(size=8).queries([sys.argv[1]]).tolist())
