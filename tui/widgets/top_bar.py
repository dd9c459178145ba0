"""The first line: which vault, what the engine is doing, how fresh it is, who writes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from tui.looks.formatting import MUTED, ago, left, progress
from tui.looks.signs import STATES, sign
from vaultmem.text.amounts import count
from vaultmem.text.shown import harmless


@dataclass(frozen=True, slots=True)
class Facts:
    """What the line says."""

    vault: str
    state: str = "starting"
    done: int = 0
    total: int = 0
    seconds_left: float | None = None
    age_s: float | None = None
    is_writer: bool | None = None
    """None until it is known."""
    writer_pid: int | None = None
    stale_notes: int = 0
    is_read_only: bool = False


class TopBar(Widget):
    """Draws `Facts` into one line; what does not fit is left out, the least needed first."""

    ALLOW_SELECT = False
    facts: reactive[Facts] = reactive(Facts(""))

    def update(self, **changes: object) -> None:
        """Change some of the facts."""
        self.facts = replace(self.facts, **changes)  # type: ignore[arg-type]

    def render(self) -> Content:
        """The line."""
        width = self.size.width
        name = Content.assemble((" ◆ vaultmem ", "bold $primary"), (harmless(self.facts.vault), "bold"))
        parts = [part for part in (*self._state(), self._freshness(), self._role()) if part]
        while parts and name.cell_length + _joined(parts).cell_length + 3 > width and len(parts) > 1:
            parts.pop()
        told = _joined(parts)
        room = max(0, width - told.cell_length - 2)
        return (
            name.truncate(room, ellipsis=True).pad_right(max(0, room - name.cell_length)) + " " + told + " "
        )

    def _state(self) -> list[Content]:
        facts = self.facts
        state = sign(STATES, facts.state)
        shown = Content.styled(str(state), f"{state.style} bold")
        if not facts.total:
            return [shown]
        numbers = f" {count(facts.done)}/{count(facts.total)} "
        told = shown + Content.assemble(numbers, progress(facts.done, facts.total, 14))
        return [told, Content.styled(left(facts.seconds_left), MUTED)]

    def _freshness(self) -> Content:
        facts = self.facts
        if facts.state == "starting":
            return Content("")
        stale = f", {count(facts.stale_notes)} stale" if facts.stale_notes else ""
        return Content.styled(f"checked {ago(facts.age_s)}{stale}", "$text-warning" if stale else MUTED)

    def _role(self) -> Content:
        facts = self.facts
        words = ["read-only"] if facts.is_read_only else []
        if facts.is_writer is False:
            words.append(f"follows writer {facts.writer_pid}" if facts.writer_pid else "no writer")
        elif facts.is_writer and not facts.is_read_only:
            words.append("writes here")
        return Content.styled(" · ".join(words), MUTED)


def _joined(parts: list[Content]) -> Content:
    return Content.styled("   ", MUTED).join(parts)
