"""The app, as far as its parts may ask it: they know this, never the app itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.signal import Signal

    from tui.models.preview import Settings
    from tui.models.shelf import Shelf
    from vaultmem import Engine


class Host(Protocol):
    """What every part of the dashboard finds above it."""

    @property
    def engine(self) -> Engine | None:
        """None until it is open."""

    @property
    def is_read_only(self) -> bool:
        """Nothing may be changed from here."""

    @property
    def settings(self) -> Settings:
        """What hints are asked with, and how they are shown."""

    @property
    def shelf_read(self) -> Signal[Shelf]:
        """Tells whoever subscribes that the notes are others."""


def host(part: DOMNode) -> Host:
    """The app that a part belongs to."""
    return cast(Host, part.app)
