"""One part of the dashboard alone on a screen: no tabs, no reading, a fraction of a second."""

from __future__ import annotations

from typing import TypeVar

from textual.app import App, ComposeResult
from textual.message import Message
from textual.signal import Signal
from textual.widget import Widget

from tui.app import VaultmemApp
from tui.looks.colourless import CURSORS
from tui.models.preview import Settings
from tui.models.shelf import Shelf
from tui.testing.fake_engine import FakeEngine

M = TypeVar("M", bound=Message)


class Stage(App[int]):
    """An app around these widgets, with the dashboard's looks, that is a host for them and keeps what they tell."""

    CSS_PATH = VaultmemApp.CSS_PATH
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self, *widgets: Widget, engine: FakeEngine | None = None, is_read_only: bool = False
    ) -> None:
        super().__init__()
        self.animation_level = "none"
        self.engine = engine
        self.is_read_only = is_read_only
        self.settings = Settings()
        self.shelf_read: Signal[Shelf] = Signal(self, "shelf_read")
        self._widgets = widgets
        self._told: list[Message] = []

    def get_css_variables(self) -> dict[str, str]:
        """The dashboard's."""
        return {**super().get_css_variables(), **CURSORS}

    def compose(self) -> ComposeResult:
        """The widgets, one below the other."""
        yield from self._widgets

    def post_message(self, message: Message) -> bool:
        """Keep what arrives here."""
        self._told.append(message)
        return super().post_message(message)

    def told(self, kind: type[M]) -> list[M]:
        """The messages of this kind that came up to the app, oldest first."""
        return [message for message in self._told if isinstance(message, kind)]
