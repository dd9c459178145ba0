"""What a screen reads of the engine again and again: never the same thing twice at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from tui.asking import ask

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.message import Message

    from vaultmem import Engine

T = TypeVar("T")


class Reader:
    """The readings that are under way, and those that failed last."""

    def __init__(self, asker: DOMNode) -> None:
        self._asker = asker
        self._under_way: set[str] = set()
        self._once_more: dict[str, Callable[[], None]] = {}
        self.failed: set[str] = set()

    def read(
        self,
        what: str,
        call: Callable[[Engine], T],
        answer: Callable[[T], Message],
        on_error: Callable[[Exception], Message] | None = None,
    ) -> None:
        """Ask the engine; what is asked for while it is under way is asked for once more afterwards.

        A newer question does not cut the older one off, so that answers come however often things change.
        """
        if what in self._under_way:
            self._once_more[what] = lambda: self.read(what, call, answer, on_error)
        elif ask(self._asker, call, answer, what=what, is_exclusive=False, on_error=on_error):
            self._under_way.add(what)

    def arrived(self, what: str, *, is_failure: bool = False) -> None:
        """The answer came, or word that there is none."""
        self._under_way.discard(what)
        self.failed.discard(what)
        if is_failure:
            self.failed.add(what)
        if again := self._once_more.pop(what, None):
            again()
