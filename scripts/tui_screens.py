"""Draw the pictures of docs/tui.md: the dashboard on a copy of the sample vault, as SVG files in docs/screens.

python scripts/tui_screens.py [--embedder none]      (or: make tui-screens)
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from textual.events import Paste

from tui.app import VaultmemApp
from tui.looks.preferences import DARK, LIGHT, Preferences
from tui.testing.driving import until
from vaultmem import Engine

PROJECT = Path(__file__).parents[1]
SCREENS = PROJECT / "docs" / "screens"
SIZE = (128, 38)
TODAY = datetime(2026, 6, 5, 9, 30, tzinfo=UTC)
PROMPT = "Excel shows garbled Chinese characters in the CSV that we export, why?"

PICTURES: Sequence[tuple[str, str, Sequence[str]]] = (
    ("overview", DARK, ("1",)),
    ("overview-light", LIGHT, ("1",)),
    ("diagnostics", DARK, ("2", "slash", *"bad_yaml", "enter", "down")),
    ("conflict", DARK, ("2", "slash", *"gitignore conflict", "enter", "down", "c")),
    ("recall", DARK, ("3", "PROMPT", "escape")),
    ("recall-light", LIGHT, ("3", "PROMPT", "escape", "down", "down", "down")),
    ("memories", DARK, ("4", "down", "down")),
    ("tags", DARK, ("4", "slash", *"#cache", "enter", "A", "t", *"Prompt Cache", "enter")),
    ("describe", DARK, ("2", "slash", *"missing_description", "enter", "down", "w", "ctrl+g")),
)


async def draw(root: Path, state: Path, embedder: str) -> None:
    """One picture after the other, each in a dashboard of its own on the same caches."""
    with Engine.open(root, state, embedder) as engine:
        engine.sync()
    for name, theme, keys in PICTURES:
        svg = await picture(root, state, embedder, theme, keys)
        (SCREENS / f"tui-{name}.svg").write_text(plain_svg(svg), encoding="utf-8")
        sys.stdout.write(f"docs/screens/tui-{name}.svg\n")


async def picture(root: Path, state: Path, embedder: str, theme: str, keys: Sequence[str]) -> str:
    """The dashboard after these keys, as SVG."""
    preferences = Preferences(state / "tui.json")
    preferences.remember_theme(theme)
    app = VaultmemApp(
        lambda: Engine.open(root, state, embedder, hold=True, watch=True),
        root=root,
        preferences=preferences,
        clock=lambda: TODAY,
    )
    app.animation_level = "none"
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.engine and app.dashboard.shelf.notes, seconds=120)
        await until(pilot, lambda: app.dashboard.query_one("TopBar").facts.state == "idle", seconds=300)
        for key in keys:
            if key == "PROMPT":
                app.post_message(Paste(PROMPT))
                await until(pilot, lambda: app.dashboard.query_one("#candidates").keys, seconds=120)
            else:
                await pilot.press(key)
        await app.workers.wait_for_complete()
        await pilot.pause(0.5)
        svg = app.export_screenshot()
    app.close_engine()
    return svg


def plain_svg(svg: str) -> str:
    """The picture with the reader's own monospaced font: nothing is fetched when it is looked at."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
    return re.sub(
        r"font-family: [^;]*Fira Code[^;]*;", "font-family: ui-monospace, Menlo, Consolas, monospace;", svg
    )


def main() -> None:
    """Copy the sample vault, draw, throw the copy away."""
    parser = argparse.ArgumentParser(description="Draw the pictures of docs/tui.md.")
    parser.add_argument("--embedder", default="auto", help="as VAULTMEM_EMBEDDER")
    embedder = parser.parse_args().embedder
    SCREENS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "Vault"
        shutil.copytree(PROJECT / "sample_vault", vault)
        asyncio.run(draw(vault / "March Memories", Path(folder) / "state", embedder))


if __name__ == "__main__":
    main()
