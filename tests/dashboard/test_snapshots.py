"""How the dashboard looks: each screen empty, normal and in error, and one screen in every theme.

Accept a new look with `make snapshots`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from tui.dialogs.describe import DescribeDialog
from tui.dialogs.rename_tag import RenameTagDialog
from tui.dialogs.tags import TagDialog
from tui.looks.themes import THEMES
from tui.screens.conflict import ConflictScreen
from tui.screens.failed import FailedScreen
from tui.testing.driving import screen_text, settled, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import NOW
from tui.widgets.rows import Rows
from vaultmem.errors import RootMissingError, StoreError
from vaultmem.events import (
    EmbeddingProgress,
    EngineFailed,
    LockChanged,
    SyncFinished,
    SyncReport,
    WatcherChanged,
    WatcherMode,
)

SIZE = (120, 36)
TABS = ("overview", "diagnostics", "recall", "memories", "activity")
Step = Callable[[Pilot], Awaitable[None]]

TEXTUAL_THEMES = (
    "textual-dark", "textual-light", "nord", "gruvbox", "catppuccin-mocha", "textual-ansi", "dracula",
    "tokyo-night", "monokai", "flexoki", "catppuccin-latte", "solarized-light", "solarized-dark",
)  # fmt: skip


def ready(*keys: str, shows: str = "") -> Step:
    """Wait for the engine, press keys, wait until a text is there."""

    async def steps(pilot: Pilot) -> None:
        app = pilot.app
        await until(pilot, lambda: app.engine is not None and app.dashboard._shelf is not None)
        await until(
            pilot, lambda: app.dashboard.query_one("TopBar").facts.state not in ("starting", "scanning")
        )
        await pilot.press(*keys)
        if shows:
            await until(pilot, lambda: shows in screen_text(app))
        await settled(pilot.app)

    return steps


@pytest.mark.parametrize(
    ("tab", "keys", "shows"),
    [
        ("overview", (), "in conflict"),
        ("diagnostics", ("2", "down"), "same"),
        ("recall", ("3", *"cache layers first", "escape"), "How the score adds up"),
        ("memories", ("4", "down"), "made 2026"),
        ("activity", ("5",), "native"),
    ],
    ids=TABS,
)
def test_snapshot_of_each_tab(snap_compare, engine, open_dashboard, tab, keys, shows):
    engine.past = [
        WatcherChanged(NOW.replace(minute=1), WatcherMode.NATIVE),
        LockChanged(NOW.replace(minute=2), is_writer=True),
        SyncFinished(NOW.replace(minute=3), SyncReport(scanned=8, added=8, chunks_embedded=12)),
    ]
    shows = {"diagnostics": "1 ---"}.get(tab, shows)
    assert snap_compare(open_dashboard(engine), terminal_size=SIZE, run_before=ready(*keys, shows=shows))


@pytest.mark.parametrize(
    ("tab", "keys", "shows"),
    [
        ("overview", (), "No notes yet"),
        ("diagnostics", ("2",), "every note is well"),
        ("recall", ("3",), "Why this hint"),
        ("memories", ("4",), "no notes yet"),
        ("activity", ("5",), "nothing has happened yet"),
    ],
    ids=TABS,
)
def test_snapshot_of_each_tab_when_there_is_nothing(snap_compare, open_dashboard, tab, keys, shows):
    assert snap_compare(
        open_dashboard(FakeEngine()), terminal_size=SIZE, run_before=ready(*keys, shows=shows)
    )


def failing_engine(engine: FakeEngine) -> FakeEngine:
    engine.failing = {
        "read_note": StoreError("the file cannot be read: permission denied"),
        "recall": StoreError("the lexical store is torn", advice="Run `vaultmem sync`."),
    }
    engine.state, engine.message = (
        "degraded",
        "The embedding model cannot be loaded; recall uses words alone.",
    )
    engine.past = [EngineFailed(NOW, "the embedding model cannot be loaded", "Set VAULTMEM_EMBEDDER=none.")]
    return engine


@pytest.mark.parametrize(
    ("tab", "keys", "shows"),
    [
        ("overview", (), "cannot be loaded"),
        ("diagnostics", ("2", "down"), "permission denied"),
        ("recall", ("3", *"cache", "escape"), "is torn"),
        ("memories", ("4", "down"), "✖ the file"),
        ("activity", ("5",), "VAULTMEM_EMBEDDER"),
    ],
    ids=TABS,
)
def test_snapshot_of_each_tab_in_error(snap_compare, engine, open_dashboard, tab, keys, shows):
    app = open_dashboard(failing_engine(engine))
    assert snap_compare(app, terminal_size=SIZE, run_before=ready(*keys, shows=shows))


def test_snapshot_of_the_engine_that_cannot_start(snap_compare, open_dashboard):
    def open_engine() -> FakeEngine:
        raise RootMissingError(
            "the memory root /mnt/nas/March Memories is gone", advice="Mount it, then press r."
        )

    async def steps(pilot: Pilot) -> None:
        await until(pilot, lambda: isinstance(pilot.app.screen, FailedScreen))
        await settled(pilot.app)

    assert snap_compare(open_dashboard(open_engine), terminal_size=(100, 24), run_before=steps)


def test_snapshot_while_embedding(snap_compare, engine, open_dashboard):
    async def steps(pilot: Pilot) -> None:
        await ready()(pilot)
        engine.state = "embedding"
        engine.tell(EmbeddingProgress(NOW, 120, 480, 42.0))
        await until(pilot, lambda: "120/480" in screen_text(pilot.app))
        await settled(pilot.app)

    assert snap_compare(open_dashboard(engine), terminal_size=(100, 24), run_before=steps)


def test_snapshot_of_a_conflict(snap_compare, engine, open_dashboard):
    async def steps(pilot: Pilot) -> None:
        await ready("2", "down", "c")(pilot)
        await until(pilot, lambda: isinstance(pilot.app.screen, ConflictScreen))
        await until(pilot, lambda: pilot.app.screen.query_one(Rows).keys)
        await settled(pilot.app)

    assert snap_compare(open_dashboard(engine), terminal_size=SIZE, run_before=steps)


def test_snapshot_of_the_tag_editor(snap_compare, engine, open_dashboard):
    async def steps(pilot: Pilot) -> None:
        await ready("4", "A", "t")(pilot)
        await until(pilot, lambda: isinstance(pilot.app.screen, TagDialog))
        await pilot.press(*"Context Cache", "enter", *"re")
        await until(pilot, lambda: "7 notes will change, 1 refused" in screen_text(pilot.app))
        await settled(pilot.app)

    assert snap_compare(open_dashboard(engine), terminal_size=SIZE, run_before=steps)


def test_snapshot_of_the_description_editor(snap_compare, engine, open_dashboard):
    async def steps(pilot: Pilot) -> None:
        await ready("4", "slash", *"redis", "enter", "w")(pilot)
        await until(pilot, lambda: isinstance(pilot.app.screen, DescribeDialog))
        await until(pilot, lambda: "ctrl+g takes" in screen_text(pilot.app))
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "+description" in screen_text(pilot.app))
        await settled(pilot.app)

    assert snap_compare(open_dashboard(engine), terminal_size=SIZE, run_before=steps)


def test_snapshot_of_renaming_a_tag(snap_compare, engine, open_dashboard):
    async def steps(pilot: Pilot) -> None:
        await ready("R")(pilot)
        await until(pilot, lambda: isinstance(pilot.app.screen, RenameTagDialog))
        await pilot.press(*"network", "enter", *"cache")
        await until(pilot, lambda: "1 note will change" in screen_text(pilot.app))
        await settled(pilot.app)

    assert snap_compare(open_dashboard(engine), terminal_size=SIZE, run_before=steps)


@pytest.mark.parametrize(
    "keys",
    [("question_mark",), ("4", "x"), ("3", *"stable layers", "escape", "l")],
    ids=["help", "confirm", "hint-lines"],
)
def test_snapshot_of_the_other_dialogs(snap_compare, engine, open_dashboard, keys):
    async def steps(pilot: Pilot) -> None:
        await ready(*keys[:-1])(pilot)
        await pilot.press(keys[-1])
        await until(pilot, lambda: pilot.app.screen is not pilot.app.dashboard)
        await settled(pilot.app)

    assert snap_compare(open_dashboard(engine), terminal_size=SIZE, run_before=steps)


@pytest.mark.parametrize("size", [(80, 24), (200, 50), (40, 10)], ids=str)
def test_snapshot_of_other_windows(snap_compare, engine, open_dashboard, size):
    assert snap_compare(open_dashboard(engine), terminal_size=size, run_before=ready("4", "down"))


@pytest.mark.parametrize("theme", [*(theme.name for theme in THEMES), *TEXTUAL_THEMES])
def test_snapshot_of_every_theme(snap_compare, engine, open_dashboard, theme):
    app = open_dashboard(engine, theme=theme)
    assert snap_compare(app, terminal_size=(100, 24), run_before=ready("2", "down", shows="1 ---"))
