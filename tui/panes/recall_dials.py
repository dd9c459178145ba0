"""What a recall preview is asked with: threshold, limit, turn, project; and whether all candidates are shown."""

from __future__ import annotations

from dataclasses import replace

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from tui.models.preview import Settings
from tui.widgets.boxes import LineInput
from tui.widgets.dial import Dial
from vaultmem.config import ASSISTANT_HINT_LIMIT, HINT_LIMIT

THRESHOLDS = tuple(f"{step / 100:.2f}" for step in range(101))
LIMITS = tuple(str(limit) for limit in range(1, 21))


class RecallDials(Vertical):
    """Two lines of settings, each turned with keys or the mouse."""

    class Turned(Message):
        """The prompt may have another answer now."""

    class Narrowed(Message):
        """All candidates are wanted, or the hints alone."""

    class Left(Message):
        """The person is done typing a project."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings

    def compose(self) -> ComposeResult:
        """What is turned often above, the rest below."""
        with Horizontal(id="dials"):
            yield Dial("threshold", THRESHOLDS, f"{self._settings.min_score:.2f}", id="threshold")
            yield Dial("limit", LIMITS, str(self._settings.limit), id="limit")
            yield Dial("turn", ("user", "assistant"), "user", id="turn", wraps=True)
        with Horizontal(id="more-dials"):
            yield Dial("show", ("all", "hints"), "all", id="show", wraps=True)
            yield Static("project", classes="dial-label", markup=False)
            yield LineInput(placeholder="any", compact=True, id="project")

    def applied_to(self, settings: Settings) -> Settings:
        """The settings as the dials stand. An assistant turn does not repeat what was given on the user's."""
        is_assistant = self._dial("turn").value == "assistant"
        return replace(
            settings,
            min_score=float(self._dial("threshold").value),
            limit=int(self._dial("limit").value),
            project=self.query_one("#project", Input).value.strip(),
            is_assistant=is_assistant,
            suppressed=frozenset(settings.given if is_assistant else ()),
        )

    @property
    def shows_hints_alone(self) -> bool:
        """Candidates that are no hints are left out."""
        return self._dial("show").value == "hints"

    def turn(self, dial: str, steps: int) -> None:
        """Turn one of them."""
        self._dial(dial).action_turn(steps)

    def type_project(self) -> None:
        """Give the keys to the project."""
        self.screen.set_focus(self.query_one("#project", Input))

    def _dial(self, name: str) -> Dial:
        return self.query_one(f"#{name}", Dial)

    @on(Dial.Turned)
    def _turned(self, event: Dial.Turned) -> None:
        event.stop()
        if event.dial.id == "show":
            self.post_message(self.Narrowed())
            return
        if event.dial.id == "turn":
            self._set_usual_limit(event.dial.value)
        self.post_message(self.Turned())

    def _set_usual_limit(self, turn: str) -> None:
        """An assistant turn gets fewer hints; a limit that a person set stays."""
        limit = self._dial("limit")
        limits = (HINT_LIMIT, ASSISTANT_HINT_LIMIT)
        before, now = limits if turn == "assistant" else reversed(limits)
        if limit.value == str(before):
            with self.prevent(Dial.Turned):
                limit.set_value(str(now))

    @on(Input.Changed)
    def _project_typed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Turned())

    @on(Input.Submitted)
    def _project_entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Left())
