"""What a search for `needle` finds, and the most memory that it and its children took: search_memory.py FOLDER RG."""

import json
import resource
import sys
from pathlib import Path

from vaultmem.search.ripgrep import search_files


def peak_mib() -> float:
    """The system's `ru_maxrss` also counts what the parent had when it forked; Linux tells what is our own."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) / 1024


found = search_files(Path(sys.argv[1]), "needle", rg=sys.argv[2] or None)
unit = 1024**2 if sys.platform == "darwin" else 1024
mib, children_mib = peak_mib(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit
places = [(match.path, match.line) for match in found.matches]
print(
    json.dumps(
        {
            "places": places,
            "engine": found.engine,
            "warnings": found.warnings,
            "mib": mib,
            "children_mib": children_mib,
        }
    )
)
