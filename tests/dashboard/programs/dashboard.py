"""The dashboard on thirty notes in memory: dashboard.py PREFERENCES_FILE."""

from __future__ import annotations

import sys
from pathlib import Path

from tui.app import VaultmemApp
from tui.looks.preferences import Preferences
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file

files = {
    f"n{at}.md": note_file(f"Note {at}", id=f"m{at}", description="alpha", tags=["a"]) for at in range(30)
}
files["n1.md"] = note_file("Note 1", id="m0", body="# Title\n\n`code` and [a link](x)\n\n> quoted\n")
engine = FakeEngine(files)
app = VaultmemApp(lambda: engine, root=Path("/v/m"), preferences=Preferences(Path(sys.argv[1])))  # type: ignore[arg-type, return-value]
app.run()
