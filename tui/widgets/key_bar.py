"""The line at the bottom: the keys that do something at this moment, as many as fit."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from tui.looks.formatting import MUTED


@dataclass(frozen=True, slots=True)
class _Key:
    key: str
    text: Content
    start: int
    end: int


class KeyBar(Widget):
    """Shows the active keys of its screen; a click on one presses it."""

    ALLOW_SELECT = False
    ALWAYS = ("question_mark", "f8", "q", "ctrl+q")
    """Keys kept in sight at the right end, whatever else there is."""

    def on_mount(self) -> None:
        """Follow the screen's keys."""
        self.screen.bindings_updated_signal.subscribe(self, self._follow)

    def on_unmount(self) -> None:
        """Stop following."""
        self.screen.bindings_updated_signal.unsubscribe(self)

    def _follow(self, screen: Screen[object]) -> None:
        self.refresh()

    def on_resize(self) -> None:
        """Another width holds other keys."""
        self.refresh()

    def render(self) -> Content:
        """The keys in the order they were bound."""
        width = self.size.width
        content, at = Content(""), 0
        for key in self._laid_out(width):
            content = content + Content(" " * (key.start - at)) + key.text
            at = key.end
        return content

    def _laid_out(self, width: int) -> list[_Key]:
        bindings = self._shown()
        kept = [binding for name in self.ALWAYS for binding in bindings if binding[0] == name]
        others = [binding for binding in bindings if binding[0] not in self.ALWAYS]
        right = sum(_text(*binding[1:]).cell_length + 2 for binding in kept)
        keys: list[_Key] = []
        at = 1
        for name, display, label in others:
            text = _text(display, label)
            if at + text.cell_length > width - right - 1:
                break
            keys.append(_Key(name, text, at, at + text.cell_length))
            at += text.cell_length + 2
        at = max(at, width - right)
        for name, display, label in kept:
            text = _text(display, label)
            keys.append(_Key(name, text, at, at + text.cell_length))
            at += text.cell_length + 2
        return keys

    def _shown(self) -> list[tuple[str, str, str]]:
        """One key per action: while a box takes the letters, the one that still works."""
        found: dict[str, tuple[str, str, str]] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.show and active.enabled:
                key = (binding.key, self.app.get_key_display(binding), binding.description)
                shown = found.setdefault(binding.action, key)
                if len(binding.key) == 1 < len(shown[0]):
                    found[binding.action] = key
        return list(found.values())

    def on_click(self, event: events.Click) -> None:
        """Press the key that was clicked."""
        event.stop()
        for key in self._laid_out(self.size.width):
            if key.start <= event.x < key.end:
                self.app.simulate_key(key.key)
                return


def _text(display: str, label: str) -> Content:
    return Content.assemble((display, "$footer-key-foreground bold"), " ", (label, MUTED))
