"""What the dashboard's tests share: a small vault in memory, and a way to open the dashboard on it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import pytest
from textual import app as app_module
from textual import pilot as pilot_module
from textual._context import active_app
from textual._wait import SLEEP_GRANULARITY, wait_for_idle

from tui.app import VaultmemApp
from tui.looks.preferences import Preferences
from tui.testing.driving import settled
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import NOW, note_file

W2 = "2026/05/week2"


class OpenDashboard(Protocol):
    """Make a dashboard on an engine that is opened when the app asks for it."""

    def __call__(
        self, engine: FakeEngine | Callable[[], FakeEngine], *, is_read_only: bool = ..., theme: str = ...
    ) -> VaultmemApp: ...


async def rest(min_sleep: float = SLEEP_GRANULARITY, max_sleep: float = 1) -> None:
    """Wait until nothing is under way in the app, or the process is idle, as Textual does: whichever is earlier.

    Textual waits twice a key for a fiftieth of a second in which the process does next to nothing.
    """
    idle = asyncio.create_task(wait_for_idle(min_sleep, max_sleep))
    quiet = asyncio.create_task(settled(active_app.get()))
    await asyncio.wait((idle, quiet), return_when=asyncio.FIRST_COMPLETED)
    if quiet.done() and quiet.exception():  # the app has ended meanwhile
        await idle
    idle.cancel()
    quiet.cancel()


@pytest.fixture(autouse=True)
def quick_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key is followed by the next one as soon as it has been handled."""
    for module in (app_module, pilot_module):
        monkeypatch.setattr(module, "wait_for_idle", rest)


@pytest.fixture
def vault_files() -> Mapping[str, bytes]:
    """Notes of every kind: well, deprecated, in conflict, without description, id or tags, and broken."""
    return {
        f"{W2}/2026-05-11-cache-order.md": note_file(
            "Context cache ordering",
            id="mem_cache_order",
            description="Layers that change often must not stand before large stable context",
            tags=["cache", "project/march"],
            day="2026-05-11",
            body="# Context cache ordering\n\nPut stable layers first, so that the prefix cache is hit.\n",
        ),
        f"{W2}/2026-05-12-seen-set.md": note_file(
            "Agent Run 已见集合",
            id="mem_seen_set",
            description="同一 Agent Run 内不重复提示同一条记忆",
            tags=["recall", "project/march"],
            day="2026-05-12",
            body="# 已见集合\n\n用户召回与 assistant 召回共用一个 seen set。\n",
        ),
        f"{W2}/2026-05-13-retry.md": note_file(
            "Retry with backoff",
            id="mem_retry",
            description="HTTP 429: wait as long as the Retry-After header says",
            tags=["network"],
            status="deprecated",
            day="2026-05-13",
            body="# Retry\n\nUse Retry-After, then exponential backoff with jitter.\n",
        ),
        f"{W2}/2026-05-14-redis.md": note_file(
            "Redis as a cache",
            id="mem_redis",
            tags=["cache"],
            day="2026-05-14",
            body="Run Redis with noeviction when it is a queue. As a cache use allkeys-lru.\n",
        ),
        f"{W2}/2026-05-14-gitignore.md": note_file(
            "What git ignores in a vault",
            id="mem_gitignore",
            description="Which files of an Obsidian vault stay out of git",
            tags=["git", "obsidian"],
            body="Ignore workspace.json and the cache folder.\n",
        ),
        f"{W2}/2026-05-14-gitignore (conflicted copy).md": note_file(
            "What git ignores in a vault",
            id="mem_gitignore",
            description="Which files of an Obsidian vault stay out of git",
            tags=["git"],
            body="Ignore workspace.json.\nPlugins too.\n",
        ),
        f"{W2}/no-id.md": note_file("A loose thought", day="2026-05-14"),
        f"{W2}/broken.md": b'---\nid: mem_broken\nname: "unclosed\ntags: [a\n---\nBody.\n',
    }


@pytest.fixture
def engine(vault_files: Mapping[str, bytes]) -> FakeEngine:
    """An engine on the small vault."""
    return FakeEngine(vault_files)


@pytest.fixture
def open_dashboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenDashboard:
    """The dashboard at a fixed time, without animation, its preferences in a folder of the test."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()

    def make(
        engine: FakeEngine | Callable[[], FakeEngine],
        *,
        is_read_only: bool = False,
        theme: str = "vaultmem-dark",
    ) -> VaultmemApp:
        preferences = Preferences(tmp_path / "tui.json")
        preferences.remember_theme(theme)
        app = VaultmemApp(
            engine if callable(engine) else lambda: engine,  # type: ignore[arg-type, return-value]
            root=Path("/home/mei/Vault/March Memories"),
            is_read_only=is_read_only,
            preferences=preferences,
            clock=lambda: NOW,
            stopwatch=lambda: 0.0,
        )
        app.animation_level = "none"
        return app

    return make
