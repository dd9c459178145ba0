"""Notes changed when a person asks for it: asked about where it matters, carried out by the engine, ready for undo.

The verbs below "the engine's part" run in a thread; each returns what came of it, as a message to the app.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from tui.asking import ask, for_each
from tui.dialogs.confirm import ConfirmDialog
from tui.dialogs.describe import DescribeDialog
from tui.dialogs.rename_tag import RenameTagDialog
from tui.dialogs.tags import TagDialog
from tui.dialogs.told import ToldDialog
from tui.messages import (
    Changed,
    DescriptionAsked,
    EditAsked,
    NewIdsAsked,
    Redone,
    StatusAsked,
    TagsAsked,
    TrashAsked,
    Undone,
)
from tui.models.history import Deed, History
from vaultmem.notes.metadata import Status
from vaultmem.text.amounts import counted
from vaultmem.text.shown import harmless
from vaultmem.views import Edited, NoteView

if TYPE_CHECKING:
    from textual.app import App

    from tui.models.shelf import Shelf
    from vaultmem import Engine


def edit(app: App[int], request: EditAsked, shelf: Shelf) -> None:
    """Do to the notes what a person asked for, or open the dialog in which they say it."""
    notes = shelf.at(request.paths)
    match request:
        case TagsAsked() if notes:
            app.push_screen(TagDialog(f"Tags of {_named(notes)}", notes, shelf.tag_uses))
        case DescriptionAsked() if notes:
            app.push_screen(DescribeDialog(f"Description of {_named(notes)}", notes[0]))
        case StatusAsked(status=status):
            _call(app, "writing the status", partial(write_status, notes=notes, status=status))
        case NewIdsAsked():
            _call(app, "giving new ids", partial(give_new_ids, notes=notes))
        case TrashAsked(paths=paths, reason=reason):
            _ask_about_trash(app, paths, reason)


def rename_tag(app: App[int], shelf: Shelf) -> None:
    """Open the dialog that renames a tag over the vault."""
    app.push_screen(RenameTagDialog("Renamed a tag", shelf.tags))


def undo(app: App[int], history: History) -> None:
    """Take the last deed back."""
    deed = history.take_undo()
    if deed is None:
        app.notify("There is nothing to undo in this session.", markup=False)
    else:
        _call(app, "undoing", partial(take_back, deed=deed))


def redo(app: App[int], history: History) -> None:
    """Do again what was undone last."""
    deed = history.take_redo()
    if deed is None:
        app.notify("There is nothing to redo.", markup=False)
    else:
        _call(app, "redoing", partial(do_again, deed=deed))


def tell_refusals(app: App[int], refusals: Mapping[str, str], *, is_idle: bool) -> None:
    """Say which notes were not changed, and why; or that there was nothing to change."""
    if refusals:
        paragraphs = [
            Content.assemble((harmless(path), "bold"), "\n  ", harmless(reason), "\n")
            for path, reason in refusals.items()
        ]
        app.push_screen(ToldDialog(f"{counted(len(refusals), 'note')} not changed", paragraphs))
    elif is_idle:
        app.notify("Nothing had to be changed.", markup=False)


def _ask_about_trash(app: App[int], paths: Sequence[str], reason: str) -> None:
    def answered(is_yes: bool | None) -> None:
        if is_yes:
            _call(app, "moving to the trash", partial(move_to_trash, paths=paths))

    note = "They go to the vault's .trash folder; u brings them back."
    note += f"\n{harmless(reason)}" if reason else ""
    question = f"Move {counted(len(paths), 'note')} to the trash?"
    app.push_screen(ConfirmDialog(question, paths, note, "Move to trash"), answered)


def _call(app: App[int], what: str, verb: Callable[[Engine], Changed | Undone | Redone]) -> None:
    ask(app, verb, lambda message: message, what=what, is_exclusive=False)


# --- the engine's part


def write_status(engine: Engine, notes: Sequence[NoteView], status: Status) -> Changed:
    """The notes with this status."""
    verb = "Made active" if status is Status.ACTIVE else "Deprecated"
    return _changed(
        f"{verb}: {_named(notes)}", notes, lambda note: engine.set_status(note.id, status, path=note.path)
    )


def give_new_ids(engine: Engine, notes: Sequence[NoteView]) -> Changed:
    """The notes with fresh ids."""
    return _changed(f"New id for {_named(notes)}", notes, lambda note: engine.adopt(note.path))


def _changed(what: str, notes: Sequence[NoteView], change: Callable[[NoteView], Edited]) -> Changed:
    by_path = {note.path: note for note in notes}
    results = for_each(by_path, lambda path: change(by_path[path]))
    return Changed(
        Deed(what, tuple(edited for edited in results.done.values() if edited.changed)), results.refused
    )


def move_to_trash(engine: Engine, paths: Sequence[str]) -> Changed:
    """The notes in the vault's trash."""
    results = for_each(paths, engine.trash)
    what = f"Trashed {counted(len(paths), 'note')}"
    return Changed(Deed(what, trashed=tuple(results.done.values())), results.refused)


def take_back(engine: Engine, deed: Deed) -> Undone:
    """The notes as they were before the deed."""
    edits = {edited.path: edited for edited in reversed(deed.edits)}
    trashed = {each.path: each for each in deed.trashed}
    undone = for_each(edits, lambda path: engine.undo(edits[path]))
    restored = for_each(trashed, lambda path: engine.restore(trashed[path]))
    return Undone(deed.about({*undone.done, *restored.done}), {**undone.refused, **restored.refused})


def do_again(engine: Engine, deed: Deed) -> Redone:
    """The notes as they were after the deed; what goes to the trash again may lie there under another name."""
    edits = {edited.path: edited for edited in deed.edits}
    written = for_each(edits, lambda path: engine.apply(edits[path], "redo"))
    trashed = for_each([each.path for each in deed.trashed], engine.trash)
    redone = replace(deed.about(written.done), trashed=tuple(trashed.done.values()))
    return Redone(redone, {**written.refused, **trashed.refused})


def _named(notes: Sequence[NoteView]) -> str:
    if len(notes) == 1:
        return f"“{harmless(notes[0].name)}”"
    return counted(len(notes), "note")
