"""What a search for `needle` finds, and the most memory that it and its children took: search_memory.py FOLDER RG."""

import json
import resource
import sys
from pathlib import Path

from vaultmem.search.ripgrep import search_files

found = search_files(Path(sys.argv[1]), "needle", rg=sys.argv[2] or None)
peaks = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
unit = 1024**2 if sys.platform == "darwin" else 1024
mib, children_mib = (peak / unit for peak in peaks)
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
