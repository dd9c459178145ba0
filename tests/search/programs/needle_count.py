"""Counts the matches of `needle` in a folder, then shows a line of its stdin: needle_count.py FOLDER."""

import sys
from pathlib import Path

from vaultmem.search.ripgrep import search_files

print(len(search_files(Path(sys.argv[1]), "needle").matches), sys.stdin.readline(), end="")
