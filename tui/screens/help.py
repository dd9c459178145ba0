"""All keys on one page."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.dialogs.dialog import Dialog
from tui.looks.formatting import lines
from tui.widgets.key_bar import KeyBar

SECTIONS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Everywhere",
        (
            ("1 – 5", "Overview, Diagnostics, Recall, Memories, Activity"),
            ("?  q", "this help, quit"),
            ("f1 – f5", "as 1 – 5, also while you type; f8 helps, ctrl+q quits there"),
            ("esc", "from every field and part of a tab to its list"),
            ("ctrl+p", "command palette: everything by name"),
            ("u  U", "undo and redo, for this session"),
            ("r", "look at the folder now"),
            ("R", "rename or merge a tag over the whole vault"),
            ("T", "choose a theme; it is remembered"),
            ("tab", "next part of the screen"),
        ),
    ),
    (
        "In every list",
        (
            ("↑ ↓  j k", "move; page up and down, home and end too"),
            ("space", "mark; shift+↑ ↓ marks on the way, A marks all"),
            ("/", "filter as you type; enter goes to the list, esc clears, then goes"),
            ("enter", "the usual thing: mend, preview, explain"),
        ),
    ),
    (
        "On notes (the marked ones, or the one under the cursor)",
        (
            ("t", "edit tags"),
            ("w", "write the description"),
            ("d", "deprecate, or make active again"),
            ("a", "give a new id (no id, or one in conflict)"),
            ("c", "compare the notes that share an id"),
            ("x", "move to the vault's trash (asks first)"),
            ("e  o", "open in $EDITOR, in Obsidian"),
            ("y  Y", "copy the id, a wikilink"),
        ),
    ),
    ("Diagnostics", (("s  f", "by severity, by folder"), ("← →", "fold and unfold a group"))),
    (
        "Recall",
        (
            ("3  /  i", "to the prompt; esc goes to the results"),
            ("h  v", "hints or all candidates; user or assistant turn"),
            ("[ ]  − +", "threshold, limit"),
            ("p", "project"),
            ("l", "the exact lines the agent would get; y copies them"),
        ),
    ),
    ("Memories", (("s  S", "sort by the next column, turn the order"), ("b  v", "tree, preview"))),
)


class HelpScreen(Dialog[None]):
    """Closes with any of the keys that opened it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Close"),
        Binding("question_mark,q,enter", "cancel", "Close", show=False),
    ]

    def compose(self) -> ComposeResult:
        """The sections."""
        with Vertical(classes="dialog -wide"):
            yield Static("Keys", classes="dialog-title", markup=False)
            with VerticalScroll(classes="dialog-list"):
                yield Static(_all_sections())
            yield KeyBar()


def _all_sections() -> Content:
    shown: list[Content] = []
    for title, keys in SECTIONS:
        shown.append(Content.styled(title, "bold $primary"))
        shown += [Content.assemble((f"  {key:<11}", "bold $text-accent"), meaning) for key, meaning in keys]
        shown.append(Content(""))
    return lines(shown)
