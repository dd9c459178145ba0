"""Steps that many ways through the dashboard have in common, and the notes of the small vault that they go to."""

from __future__ import annotations

from textual.pilot import Pilot
from textual.widgets import TextArea

from tui.app import VaultmemApp
from tui.dialogs.planned import PlannedDialog
from tui.panes.diagnostics import DiagnosticsPane
from tui.testing.driving import until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file
from tui.widgets.rows import Rows
from tui.widgets.top_bar import TopBar

CACHE = "2026/05/week2/2026-05-11-cache-order.md"
REDIS = "2026/05/week2/2026-05-14-redis.md"
"""It has no description."""


async def ready(app: VaultmemApp, pilot: Pilot[int]) -> None:
    """Wait until the notes are there, and all else that is read at the start."""
    await until(pilot, lambda: app.engine is not None and app.dashboard.shelf.notes)
    await until(pilot, lambda: app.dashboard.query_one(TopBar).facts.state == "idle")


def rows(app: VaultmemApp, name: str) -> Rows:
    """A table of the screen."""
    return app.screen.query_one(f"#{name}", Rows)


async def go_to_finding(app: VaultmemApp, pilot: Pilot[int], text: str) -> None:
    """Filter the diagnostics and put the cursor on the first finding."""
    await pilot.press("2", "slash", *text, "enter", "down")
    await until(pilot, lambda: app.screen.query_one(DiagnosticsPane).chosen())


async def open_dialog(app: VaultmemApp, pilot: Pilot[int], key: str, kind: type[PlannedDialog]) -> None:
    """Open a dialog on the note about cache ordering, and wait for its first plan."""
    await ready(app, pilot)
    await pilot.press("4", "slash", *"stable", "enter", key)
    await until(pilot, lambda: isinstance(app.screen, kind) and app.screen._plan.is_current)


def with_line(data: bytes) -> bytes:
    """The note after somebody wrote a line into it outside."""
    return data + b"\nA line from Obsidian.\n"


def undated(name: str) -> bytes:
    """A note that no date stands in."""
    return f"---\nid: {name}\nname: {name}\ndescription: alpha\nstatus: active\n---\n\nBody.\n".encode()


def many_notes() -> FakeEngine:
    """Thirty notes with the word alpha, three of them with beta, one of these with gamma too."""
    extra = {20: "beta", 25: "beta gamma", 28: "beta"}
    return FakeEngine(
        {
            f"n{at:02}.md": note_file(
                f"Note {at:02}", id=f"mem_{at:02}", description=f"alpha {extra.get(at, '')}".strip()
            )
            for at in range(30)
        }
    )


async def asked(app: VaultmemApp, pilot: Pilot[int], prompt: str) -> Rows:
    """Type a prompt and wait for its answer."""
    await ready(app, pilot)
    await pilot.press("3", *prompt)
    table = app.dashboard.query_one("#candidates", Rows)
    await answered(app, pilot)
    return table


async def answered(app: VaultmemApp, pilot: Pilot[int]) -> None:
    """Wait until the answer is there and shown."""
    pane = app.dashboard.pane("recall")
    prompt = pane.query_one(TextArea)
    await until(
        pilot,
        lambda: not pane._is_asking and not pane._is_stale and not pane._wants_best and prompt.text,
    )
