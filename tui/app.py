"""The app: opens the engine behind the first paint, hands its events over, and carries out what people ask for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.screen import Screen
from textual.theme import Theme

from tui.asking import ask, error_text
from tui.inbox import Inbox
from tui.key_order import KeyOrder, KeySettled
from tui.looks.colourless import COLOURLESS_CURSORS, CURSORS, without_colour
from tui.looks.harmless import HARMLESS
from tui.looks.preferences import Preferences, default_preferences, theme_for_terminal
from tui.looks.themes import THEMES
from tui.messages import (
    CallFailed,
    Changed,
    ConflictAsked,
    CopyAsked,
    Doctored,
    EditAsked,
    EditorAsked,
    EngineNotOpened,
    EngineOpened,
    EngineTold,
    LookFinished,
    ObsidianAsked,
    Redone,
    Undone,
)
from tui.models.preview import Settings
from tui.screens.dashboard import DashboardScreen
from tui.widgets.too_small import cover, is_too_small
from tui.widgets.top_bar import Facts
from vaultmem.text.moments import utc_now

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel
    from textual.signal import Signal

    from tui.models.history import History
    from tui.models.shelf import Shelf
    from vaultmem import Engine

REPEAT_S = 60.0
"""The same failure is said again after this time."""


class VaultmemApp(App[int]):
    """The dashboard on one memory root."""

    TITLE = "vaultmem"
    CSS_PATH = Path(__file__).with_name("app.tcss")
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "undo", "Undo"),
        Binding("U,ctrl+r", "redo", "Redo", show=False),
        Binding("r", "sync", "Look now", show=False),
        Binding("R", "rename_tag", "Rename tag", show=False),
        Binding("T", "change_theme", "Theme", show=False),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("f8", "help", "Help"),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+q", "quit", "Quit", priority=True),
    ]

    def __init__(
        self,
        open_engine: Callable[[], Engine],
        *,
        root: Path,
        is_read_only: bool = False,
        settings: Settings | None = None,
        preferences: Preferences | None = None,
        clock: Callable[[], datetime] = utc_now,
        stopwatch: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__()
        from tui.models.history import History

        self._open_engine = open_engine
        self.root = root
        self.is_read_only = is_read_only
        self.settings = settings or Settings()
        self.preferences = preferences or default_preferences()
        self.engine: Engine | None = None
        self.history: History = History()
        self._key_order = KeyOrder(self)
        self._keys_count_from = 0.0
        self._said: dict[tuple[str, str], float] = {}
        self._inbox = Inbox(self)
        self._unsubscribe: Callable[[], None] = lambda: None
        facts = Facts(f"{root.parent.name} › {root.name}", is_read_only=is_read_only)
        self.dashboard = DashboardScreen(facts, self.settings, clock, stopwatch)
        for theme in THEMES:
            self.register_theme(theme)
        remembered = self.preferences.theme()
        self.theme = remembered if remembered in self.available_themes else theme_for_terminal()
        self.stylesheet.set_variables(self.get_css_variables())

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Nothing that a terminal acts on; under `NO_COLOR` no colour at all, not even Textual's greys."""
        filters = [*super().get_line_filters(), HARMLESS]
        return without_colour(filters) if self.no_color else filters

    def get_css_variables(self) -> dict[str, str]:
        """Under `NO_COLOR` cursors and selections, which are grounds elsewhere, are reversed text."""
        variables = {**super().get_css_variables(), **CURSORS}
        return {**variables, **COLOURLESS_CURSORS} if self.no_color else variables

    @property
    def shelf_read(self) -> Signal[Shelf]:
        """Tells whoever subscribes that the notes are others."""
        return self.dashboard.shelf_read

    # --- keys

    async def on_event(self, event: events.Event) -> None:
        """Take keys in turn (see `key_order`), and none for what a too small window does not show."""
        if (
            isinstance(event, events.InputEvent | events.Paste)
            and not event.is_forwarded
            and self._is_covered
        ):
            self._key_order.forget()
            if isinstance(event, events.Key) and self._quits(event.key):
                await self.action_quit()
            return
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            if event.time < self._keys_count_from:
                return
            if self._key_order.must_wait(event):
                return
            target = self.focused or self.screen
            await super().on_event(event)
            self._key_order.follow(target)
            return
        await super().on_event(event)

    def _forget_keys(self) -> None:
        """Those pressed so far were for the editor, wherever they are by now."""
        self._key_order.forget()
        self._keys_count_from = time.monotonic()

    def on_key_settled(self, event: KeySettled) -> None:
        """A key has been handled."""
        self._key_order.settled(event)

    # --- a window that is too small

    @property
    def _is_covered(self) -> bool:
        return is_too_small(self.size)

    def _quits(self, key: str) -> bool:
        """In a dialog `q` may be a letter of a word that somebody was writing."""
        return key in ("ctrl+q", "ctrl+c") or (key == "q" and not self.screen.is_modal)

    def on_resize(self, event: events.Resize) -> None:
        """Put the notice over everything, or take it away."""
        self._cover(is_too_small(event.size))

    def _cover(self, is_covered: bool) -> None:
        if is_covered:
            self.capture_mouse(None)
        cover(self.screen_stack, is_covered)

    # --- the start, and the end

    def on_mount(self) -> None:
        """Paint first; the engine is opened behind it."""
        self.theme_changed_signal.subscribe(self, self._theme_changed)
        self.screen_change_signal.subscribe(self, lambda _: self._cover(self._is_covered), immediate=True)
        self._cover(self._is_covered)
        self.call_after_refresh(self._painted)

    def get_default_screen(self) -> Screen[object]:
        """Begin with the dashboard: there is nothing below it."""
        return self.dashboard  # type: ignore[return-value]

    async def _painted(self) -> None:
        """The first paint is on the screen: open the engine, and build the rest meanwhile."""
        self.open_engine()
        await self.dashboard.complete()
        if self.engine is not None:
            self._show_engine()

    def open_engine(self) -> None:
        """Open the engine in a thread."""
        self.run_worker(self._opening, thread=True, group="opening", exclusive=True, exit_on_error=False)

    def _opening(self) -> None:
        try:
            engine = self._open_engine()
        except Exception as error:  # whatever it is, there is a screen that says it
            self.post_message(EngineNotOpened(error_text(error), getattr(error, "advice", "")))
            return
        self.post_message(EngineOpened(engine))

    def on_engine_opened(self, event: EngineOpened) -> None:
        """Follow the engine, and show what it knows."""
        from tui.screens.failed import FailedScreen

        self.engine = event.engine
        if isinstance(self.screen, FailedScreen):
            self.pop_screen()
        if self.dashboard.is_complete:
            self._show_engine()

    def _show_engine(self) -> None:
        assert self.engine is not None  # both callers have just seen it
        self._unsubscribe = self.engine.subscribe(self._inbox.add)
        self.dashboard.read_all()
        self.dashboard.read_activity()

    def on_engine_not_opened(self, event: EngineNotOpened) -> None:
        """Say why, and offer another try."""
        from tui.screens.failed import FailedScreen

        if isinstance(self.screen, FailedScreen):
            self.screen.show(event.message, event.advice)
        else:
            self.push_screen(FailedScreen(str(self.root), event.message, event.advice))

    def on_failed_screen_retry_asked(self) -> None:
        """Try again."""
        self.open_engine()

    def close_engine(self) -> None:
        """Let go of the lock and the caches."""
        self._unsubscribe()
        engine, self.engine = self.engine, None
        if engine is not None:
            engine.close()

    # --- events of the engine

    def on_engine_told(self, event: EngineTold) -> None:
        """Show it, and read again what it concerns."""
        from tui.screens.conflict import ConflictScreen

        self.dashboard.tell(event.events)
        if isinstance(self.screen, ConflictScreen):
            self.screen.read_copies()

    def on_call_failed(self, event: CallFailed) -> None:
        """Something did not work: say what, once a minute, and go on."""
        key, now = (event.what, event.message), time.monotonic()
        if now - self._said.get(key, -REPEAT_S) < REPEAT_S:
            return
        self._said[key] = now
        self.say(f"{event.message} {event.advice}".strip(), title=f"✖ {event.what}", severity="error")

    def say(self, message: str, *, title: str = "", severity: SeverityLevel = "information") -> None:
        """A short notice; never read as markup."""
        self.notify(message, title=title, severity=severity, markup=False)

    # --- changes

    def on_changed(self, event: Changed) -> None:
        """Remember it for undo, say it, show the notes as they are now."""
        event.stop()
        self.history.add(event.deed)
        if len(event.deed):
            self.say(f"{event.deed.what} · u undoes")
        self._after(event.refusals, is_idle=not len(event.deed))

    def on_undone(self, event: Undone) -> None:
        """What was taken back can be done again."""
        event.stop()
        self.history.add_undone(event.deed)
        if len(event.deed):
            self.say(f"Undone: {event.deed.what} · U does it again")
        self._after(event.refusals)

    def on_redone(self, event: Redone) -> None:
        """What was done again can be taken back."""
        event.stop()
        self.history.add_redone(event.deed)
        if len(event.deed):
            self.say(f"Done again: {event.deed.what}")
        self._after(event.refusals)

    def _after(self, refusals: Mapping[str, str], *, is_idle: bool = False) -> None:
        from tui.requests import edits
        from tui.screens.conflict import ConflictScreen

        edits.tell_refusals(self, refusals, is_idle=is_idle)
        self.dashboard.read_all()
        if isinstance(self.screen, ConflictScreen):
            self.screen.read_copies()

    @on(EditAsked)
    def _edit(self, event: EditAsked) -> None:
        """A person wants notes changed, in whatever way."""
        from tui.requests import edits

        edits.edit(self, event, self.dashboard.shelf)

    def on_conflict_asked(self, event: ConflictAsked) -> None:
        """Show the notes that share an id beside each other."""
        from tui.screens.conflict import ConflictScreen

        self.push_screen(ConflictScreen(event.id))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing that writes in read-only mode; undo only where there is something to undo."""
        if action in ("undo", "redo", "rename_tag") and self.is_read_only:
            return False
        if action == "undo":
            return bool(self.history.done)
        return True

    def action_undo(self) -> None:
        """Take the last deed back."""
        from tui.requests import edits

        edits.undo(self, self.history)

    def action_redo(self) -> None:
        """Do again what was undone."""
        from tui.requests import edits

        edits.redo(self, self.history)

    def action_rename_tag(self) -> None:
        """Rename or merge a tag."""
        from tui.requests import edits

        edits.rename_tag(self, self.dashboard.shelf)

    # --- outside

    def on_editor_asked(self, event: EditorAsked) -> None:
        """Give the terminal to the editor, and take it back."""
        from tui.requests.leave import open_in_editor

        open_in_editor(self, self.root / event.path, event.line)
        self._forget_keys()
        self.dashboard.read_all()

    def on_obsidian_asked(self, event: ObsidianAsked) -> None:
        """Hand the link to the desktop; where there is none, copy it."""
        from tui.requests.leave import open_in_obsidian

        open_in_obsidian(self, self.root / event.path)

    def on_copy_asked(self, event: CopyAsked) -> None:
        """Put it on the clipboard."""
        from tui.requests.leave import copy

        copy(self, event.text, event.what)

    # --- the rest

    def go_to(self, tab: str) -> None:
        """Show a tab."""
        self.dashboard.action_tab(tab)

    def action_help(self) -> None:
        """Show all keys."""
        from tui.screens.help import HelpScreen

        self.push_screen(HelpScreen())

    def action_sync(self) -> None:
        """Look at the folder now."""
        self.dashboard.show_scanning()
        ask(
            self,
            lambda engine: engine.sync(embed=False),
            lambda report: LookFinished(report.changed),
            what="looking at the folder",
        )

    def on_look_finished(self, event: LookFinished) -> None:
        """Say what came of it."""
        from vaultmem.text.amounts import counted

        event.stop()
        self.say(
            f"{counted(event.changed, 'note')} had changed." if event.changed else "Nothing had changed."
        )
        self.dashboard.read_all()

    def action_doctor(self) -> None:
        """Check the caches against the notes."""
        ask(self, lambda engine: engine.doctor(), Doctored, what="checking the caches")

    def on_doctored(self, event: Doctored) -> None:
        """Show the checks."""
        from tui.dialogs.told import checks_dialog

        event.stop()
        self.push_screen(checks_dialog(event.report))

    def _theme_changed(self, theme: Theme) -> None:
        self.preferences.remember_theme(theme.name)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette: what the keys do, by name."""
        from tui.requests.palette import commands

        yield from commands(self)
