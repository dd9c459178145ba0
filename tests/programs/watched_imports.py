"""LIBRARIES: use all of the engine; which module imported which of these libraries, as JSON."""

import builtins
import json
import sys
import tempfile
from pathlib import Path

libraries, seen, original = json.loads(sys.argv[1]), set(), builtins.__import__


def watched(name, globals=None, *rest, **named):  # noqa: A002  (the name by which it may be given)
    importer = (globals or {}).get("__name__", "")
    top = name.partition(".")[0]
    if top in libraries and importer.partition(".")[0] in ("vaultmem", "tui"):
        seen.add((top, importer))
    return original(name, globals, *rest, **named)


def use_engine() -> None:
    """Imports of ours come late, for they are watched as well."""
    from vaultmem.engine.engine import Engine
    from vaultmem.notes.metadata import Status
    from vaultmem.testing import HashingEmbedder

    root = Path(tempfile.mkdtemp()) / "March Memories"
    root.mkdir()
    (root / "a.md").write_text("---\nid: a\nname: A\ndescription: d\ntags: [t]\n---\n# H\n\nalpha\n")
    with Engine.open(root, root.parent / "state", HashingEmbedder(size=8), hold=True, watch=True) as engine:
        engine.sync()
        assert engine.recall("alpha", min_score=0.0).hints
        engine.set_status("a", Status.DEPRECATED)
        engine.search("alpha")
        assert engine.doctor().caches_agree
        engine.reindex()
        while engine.background.watcher.value == "off":
            pass


builtins.__import__ = watched
use_engine()
print(json.dumps(sorted(seen)))
