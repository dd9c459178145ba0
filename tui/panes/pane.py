"""What the tabs have in common: data comes down to them, and the keys that act on notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from textual.binding import Binding, BindingType
from textual.containers import Container

from tui.host import host
from tui.messages import (
    ConflictAsked,
    CopyAsked,
    DescriptionAsked,
    EditorAsked,
    NewIdsAsked,
    ObsidianAsked,
    StatusAsked,
    TagsAsked,
    TrashAsked,
)
from tui.models.shelf import Shelf
from vaultmem.notes.metadata import Status
from vaultmem.notes.problems import is_editable
from vaultmem.views import NoteView

WRITING = frozenset({"edit_tags", "describe", "deprecate", "activate", "adopt", "trash"})
"""Actions that change notes: not there in read-only mode."""

READ_DELAY_S = 0.06
"""The cursor rests this long on a row before its note is read."""

BACK = Binding("escape", "back", "To the list", key_display="esc")
"""From every part of a tab to its list. A tab where escape clears something lists that key after this one."""


class Pane(Container, can_focus=False):
    """One tab. `shelf` holds the notes; a pane redraws itself in `shelf_changed`."""

    BINDINGS: ClassVar[list[BindingType]] = [BACK]
    LIST: ClassVar[str]
    """Selects the list that the tab is about: escape leads there."""

    shelf: Shelf = Shelf()

    @property
    def is_read_only(self) -> bool:
        """Nothing may be changed from here."""
        return host(self).is_read_only

    def show_shelf(self, shelf: Shelf) -> None:
        """Notes were read anew."""
        self.shelf = shelf
        self.shelf_changed()

    def shelf_changed(self) -> None:
        """Redraw what is made of the notes."""

    def enter(self) -> None:
        """The tab was chosen: give the focus to what it is about."""
        self.action_back()

    def action_back(self) -> None:
        """Give the keys to the list."""
        self.screen.set_focus(self.query_one(self.LIST))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is a way back from everywhere but the list itself."""
        return not any(each.has_focus for each in self.query(self.LIST)) if action == "back" else True


class NotePane(Pane):
    """A tab about notes: the same keys do the same things to the chosen ones everywhere."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "edit_tags", "Tags"),
        Binding("w", "describe", "Describe"),
        Binding("d", "deprecate", "Deprecate"),
        Binding("d", "activate", "Activate"),
        Binding("c", "resolve", "Conflict"),
        Binding("a", "adopt", "New id"),
        Binding("e", "open_editor", "Editor"),
        Binding("o", "open_obsidian", "Obsidian"),
        Binding("y", "copy_id", "Copy id"),
        Binding("Y", "copy_link", "Copy wikilink", show=False),
        Binding("x", "trash", "Trash"),
    ]

    def chosen(self) -> Sequence[NoteView]:
        """The notes an action is for: the marked ones, else the one under the cursor."""
        return ()

    def line_of(self, note: NoteView) -> int | None:
        """The line of the file to open an editor at."""
        return None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only the keys that would do something now are there."""
        if action in WRITING and self.is_read_only:
            return False
        if action not in _NOTE_ACTIONS:
            return super().check_action(action, parameters)
        notes = self.chosen()
        if not notes:
            return False
        if action in WRITING - {"trash"} and not any(is_editable(note.diagnostics) for note in notes):
            return False
        if action == "adopt":
            return all(note.id is None or note.in_conflict for note in notes)
        if action in ("deprecate", "activate"):
            return all(note.status == Status.DEPRECATED for note in notes) == (action == "activate")
        if action == "resolve":
            return any(note.in_conflict for note in notes)
        return len(notes) == 1 or action in _FOR_MANY

    def _paths(self) -> tuple[str, ...]:
        return tuple(note.path for note in self.chosen())

    def action_edit_tags(self) -> None:
        """Edit the tags of the chosen notes."""
        self.post_message(TagsAsked(self._paths()))

    def action_describe(self) -> None:
        """Write a description for the chosen note."""
        self.post_message(DescriptionAsked(self._paths()[:1]))

    def action_deprecate(self) -> None:
        """Deprecate the chosen notes."""
        self.post_message(StatusAsked(self._paths(), Status.DEPRECATED))

    def action_activate(self) -> None:
        """Make the chosen notes active."""
        self.post_message(StatusAsked(self._paths(), Status.ACTIVE))

    def action_resolve(self) -> None:
        """Show the copies of the chosen note."""
        note = next(note for note in self.chosen() if note.in_conflict)
        self.post_message(ConflictAsked(cast(str, note.id)))

    def action_adopt(self) -> None:
        """Give the chosen notes fresh ids."""
        self.post_message(NewIdsAsked(self._paths()))

    def action_open_editor(self) -> None:
        """Open the chosen note in the editor."""
        note = self.chosen()[0]
        self.post_message(EditorAsked(note.path, self.line_of(note)))

    def action_open_obsidian(self) -> None:
        """Open the chosen note in Obsidian."""
        self.post_message(ObsidianAsked(self._paths()[0]))

    def action_copy_id(self) -> None:
        """Copy the ids of the chosen notes."""
        ids = [note.id for note in self.chosen() if note.id]
        self.post_message(CopyAsked("\n".join(ids), "id" if len(ids) == 1 else f"{len(ids)} ids"))

    def action_copy_link(self) -> None:
        """Copy wikilinks to the chosen notes."""
        links = [f"[[{note.path.rpartition('/')[2].removesuffix('.md')}]]" for note in self.chosen()]
        self.post_message(
            CopyAsked("\n".join(links), "wikilink" if len(links) == 1 else f"{len(links)} wikilinks")
        )

    def action_trash(self) -> None:
        """Move the chosen notes to the vault's trash."""
        self.post_message(TrashAsked(self._paths()))


_FOR_MANY = frozenset({"edit_tags", "deprecate", "activate", "adopt", "copy_id", "copy_link", "trash"})
_NOTE_ACTIONS = _FOR_MANY | {"describe", "resolve", "open_editor", "open_obsidian"}
