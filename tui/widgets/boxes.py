"""Boxes to type into that never lose a character to a shortcut."""

from __future__ import annotations

from textual.widgets import Input, TextArea

NAMED = frozenset({"slash", "backslash", "at", "minus", "plus", "underscore"})
"""Keys whose character Textual does not find by their names, so that its boxes would leave them to shortcuts."""


class LineInput(Input):
    """One line; every printable key is its own. Where nothing is animated, the cursor does not blink."""

    def on_mount(self) -> None:
        """Blink or not."""
        self.cursor_blink = self.app.animation_level != "none"

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Keep printable keys."""
        return key in NAMED or super().check_consume_key(key, character)


class TextBox(TextArea):
    """Several lines; every printable key is its own. Where nothing is animated, the cursor does not blink."""

    def on_mount(self) -> None:
        """Blink or not."""
        self.cursor_blink = self.app.animation_level != "none"

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Keep printable keys."""
        return key in NAMED or super().check_consume_key(key, character)
