"""Recall: what hints a prompt would get, and why. Nothing here is recorded as a real recall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static, TextArea

from tui.asking import ask, error_text
from tui.dialogs.hint_lines import HintLinesDialog
from tui.looks.formatting import MUTED, lines, score_bar
from tui.looks.signs import VERDICTS, sign
from tui.messages import Recalled, RecallFailed
from tui.models.explanation import explain
from tui.models.preview import Preview, Settings, question_for
from tui.models.shelf import Mark, told_apart
from tui.panes.pane import NotePane
from tui.panes.recall_dials import RecallDials
from tui.widgets.boxes import TextBox
from tui.widgets.columns import Cells, Column, apart
from tui.widgets.rows import Rows
from vaultmem.text.shown import harmless
from vaultmem.views import NoteView

SCORE_CELLS = 12


class PromptBox(TextBox):
    """Several lines of prompt."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "app.focus_next", "To the settings")]


class RecallPane(NotePane):
    """A prompt, its candidates, the chosen one's explanation."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "To the results", key_display="esc"),
        Binding("slash,i", "prompt", "Prompt", key_display="/"),
        Binding("l", "hint_lines", "Exact lines"),
        Binding("h", "turn('show', 1)", "Hints/all"),
        Binding("v", "turn('turn', 1)", "User/assistant"),
        Binding("left_square_bracket", "turn('threshold', -5)", "Threshold −", show=False),
        Binding("right_square_bracket", "turn('threshold', 5)", "Threshold +", show=False),
        Binding("minus", "turn('limit', -1)", "Limit −", show=False),
        Binding("plus", "turn('limit', 1)", "Limit +", show=False),
        Binding("p", "project", "Project", show=False),
    ]
    LIST = "#candidates"

    def __init__(self, *, id: str, settings: Settings, stopwatch: Callable[[], float]) -> None:
        super().__init__(id=id)
        self._settings = settings
        self._stopwatch = stopwatch
        self._preview: Preview | None = None
        self._wants_best = False
        """The prompt changed, and no row was chosen by hand since: its answer is shown from the best one on."""
        self._shown: list[int] = []
        self._is_asking = False
        self._is_stale = False

    def compose(self) -> ComposeResult:
        """Prompt, settings and candidates on one side, the explanation on the other."""
        with Container(classes="split"):
            with Vertical(id="recall-left"):
                yield PromptBox(
                    id="prompt",
                    soft_wrap=True,
                    compact=True,
                    tab_behavior="focus",
                    placeholder="Type or paste a prompt: what would the agent be reminded of?",
                )
                yield RecallDials(self._settings)
                yield Static("", id="recall-status")
                yield Rows(
                    [
                        Column("", 2, is_right=True),
                        Column("0          1", SCORE_CELLS, needs=46),
                        Column("score", 5, is_right=True),
                        Column("verdict", 14, needs=34),
                        Column("name", 10, share=2),
                        Column("id", 10, share=1, needs=84),
                    ],
                    id="candidates",
                    empty="type a prompt above",
                )
            with VerticalScroll(id="explanation"):
                yield Static("", id="explained")

    def on_mount(self) -> None:
        """Say what this tab does not do."""
        self._show_status("")

    def enter(self) -> None:
        """Type at once; escape goes to the results."""
        self.action_prompt()

    # --- asking

    def shelf_changed(self) -> None:
        """Other notes may be other hints."""
        if self.query_one(PromptBox).text.strip():
            self.ask_again()

    def ask_again(self) -> None:
        """Ask the engine; while an answer is under way, ask once more when it is there: never two at a time."""
        if self._is_asking:
            self._is_stale = True
            return
        prompt = self.query_one(PromptBox).text
        if not prompt.strip():
            self._show(None)
            return
        settings = self.query_one(RecallDials).applied_to(self._settings)
        started, stopwatch = self._stopwatch(), self._stopwatch
        self._is_stale = False
        self._is_asking = ask(
            self,
            lambda engine: engine.recall(
                prompt,
                limit=settings.limit,
                min_score=settings.min_score,
                project=settings.project or None,
                suppressed=settings.suppressed,
            ),
            lambda recall: Recalled(recall, settings, stopwatch() - started),
            what="recalling",
            is_exclusive=False,
            on_error=lambda error: RecallFailed(error_text(error), getattr(error, "advice", "")),
        )
        if not self._is_asking:
            self._show_status("the engine is starting")

    def on_recalled(self, event: Recalled) -> None:
        """Show the answer; when the prompt is another one by now, ask again at once."""
        event.stop()
        self._is_asking = False
        self._settings = event.settings.after(event.recall)
        self._show(Preview.of(event.recall, event.settings, event.seconds))
        if event.recall.query == self.query_one(PromptBox).text:
            self._wants_best = False
        if self._is_stale:
            self.ask_again()

    def on_recall_failed(self, event: RecallFailed) -> None:
        """Say why there is no answer; the next key asks again."""
        event.stop()
        self._is_asking = False
        advice = f" {event.advice}" if event.advice else ""
        self._show_status(f"✖ {event.message}{advice}", "$text-error")
        if self._is_stale:
            self.ask_again()

    # --- showing

    def _show(self, preview: Preview | None) -> None:
        self._preview = preview
        style = "$text-warning" if preview and preview.trouble else ""
        self._show_status(preview.told if preview else "", style)
        self._fill()

    def _show_status(self, text: str, style: str = "") -> None:
        hint = "nothing here is recorded: this is a preview"
        self.query_one("#recall-status", Static).update(
            Content.styled(harmless(text) if text else hint, style or MUTED)
        )

    def _fill(self) -> None:
        preview, table = self._preview, self.query_one("#candidates", Rows)
        if preview is None:
            self._shown = []
            table.empty = "type a prompt above"
            table.fill([], lambda index: ())
            self._explain()
            return
        shown = self._shown = preview.shown(hints_alone=self.query_one(RecallDials).shows_hints_alone)
        table.empty = (
            "no hint; h shows what was considered" if preview.candidates else "nothing is near this prompt"
        )
        candidates = [preview.candidates[at] for at in shown]
        keys = [each.path for each in candidates]
        marks = told_apart((each.path, each.name, each.id) for each in candidates)
        table.fill(
            keys,
            lambda index: _cells(preview, shown[index], marks.get(keys[index])),
            key=preview.best(shown) if self._wants_best else None,
            is_from_top=self._wants_best,
        )
        self._explain()

    def _explain(self) -> None:
        index, preview = self.query_one("#candidates", Rows).index, self._preview
        explained = self.query_one("#explained", Static)
        if preview is None or index >= len(self._shown):
            explained.update(_introduction())
            return
        at = self._shown[index]
        width = max(20, self.query_one("#explanation").size.width - 4)
        explained.update(explain(preview.candidates[at], question_for(preview, at), width))

    @on(events.Resize)
    def _resized(self) -> None:
        self.call_after_refresh(self._explain)

    @on(Rows.Moved, "#candidates")
    def _moved(self, event: Rows.Moved) -> None:
        event.stop()
        if not event.is_from_fill:
            self._wants_best = False
        self.query_one("#explanation").scroll_home(animate=False)
        self._explain()
        self.refresh_bindings()

    def chosen(self) -> Sequence[NoteView]:
        """The candidate under the cursor."""
        key = self.query_one("#candidates", Rows).key
        return self.shelf.at([key] if key else [])

    # --- a person

    @on(TextArea.Changed, "#prompt")
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._wants_best = True
        self.ask_again()

    @on(RecallDials.Turned)
    def _turned(self, event: RecallDials.Turned) -> None:
        event.stop()
        self.ask_again()

    @on(RecallDials.Narrowed)
    def _narrowed(self, event: RecallDials.Narrowed) -> None:
        event.stop()
        self._fill()

    @on(RecallDials.Left)
    def _left(self, event: RecallDials.Left) -> None:
        event.stop()
        self.action_back()

    def action_turn(self, dial: str, steps: int) -> None:
        """Turn one of the settings."""
        self.query_one(RecallDials).turn(dial, steps)

    def action_prompt(self) -> None:
        """Type the prompt."""
        self.screen.set_focus(self.query_one(PromptBox))

    def action_project(self) -> None:
        """Type a project."""
        self.query_one(RecallDials).type_project()

    @on(Rows.Chosen, "#candidates")
    def _row_chosen(self, event: Rows.Chosen) -> None:
        event.stop()
        self.screen.set_focus(self.query_one("#explanation"))

    def action_hint_lines(self) -> None:
        """Show what exactly the agent would be given."""
        block = self._preview.block() if self._preview else ""
        self.app.push_screen(HintLinesDialog(block))


def _cells(preview: Preview, at: int, mark: Mark | None) -> Cells:
    candidate = preview.candidates[at]
    verdict = sign(VERDICTS, candidate.verdict)
    is_in = candidate.verdict == "hinted"
    rank = preview.ranks.get(at, 0)
    return (
        str(rank) if rank else "–",
        score_bar(candidate.score, preview.settings.min_score, SCORE_CELLS, verdict.style),
        f"{candidate.score:.2f}",
        Content.styled(str(verdict), verdict.style),
        apart(Content.styled(harmless(candidate.name) or "—", "bold" if is_in else ""), mark),
        Content.styled(harmless(candidate.id), MUTED),
    )


def _introduction() -> Content:
    return lines(
        [
            Content.styled("Why this hint, and why not that one?", "bold $primary"),
            "",
            "Type a prompt as you would give it to the agent.",
            "Every memory that was considered is listed with its verdict;",
            "the chosen one explains its score here, number by number.",
            "",
            Content.styled("Tab goes through the settings, ← → turn them.", MUTED),
            Content.styled("In the list: [ ] threshold, − + limit, v turn, p project.", MUTED),
        ]
    )
