"""What the app does when a person wants notes changed: ask where it matters, call the engine, remember for undo."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content
from textual.message import Message

from tui.asking import ask, for_each
from tui.dialogs.confirm import ConfirmDialog
from tui.dialogs.describe import DescribeDialog
from tui.dialogs.planned import apply_as_shown
from tui.dialogs.rename_tag import RenameTagDialog
from tui.dialogs.tags import TagDialog
from tui.dialogs.told import ToldDialog
from tui.looks.formatting import counted, plain
from tui.messages import Adopt, Changed, EditTags, MoveToTrash, Redone, SetStatus, Undone, WriteDescription
from tui.models.history import Change
from vaultmem.views import Edited, NoteView, Trashed

if TYPE_CHECKING:
    from tui.app import VaultmemApp
    from vaultmem import Engine
    from vaultmem.notes.metadata import Status

Refusals = Mapping[str, str]


def mend(app: VaultmemApp, request: Message) -> None:
    """Do what a person asked for."""
    match request:
        case EditTags(paths=paths):
            edit_tags(app, paths)
        case WriteDescription(path=path):
            describe(app, path)
        case SetStatus(paths=paths, status=status):
            set_status(app, paths, status)
        case Adopt(paths=paths):
            adopt(app, paths)
        case MoveToTrash(paths=paths, reason=reason):
            trash(app, paths, reason)


def tell_refusals(app: VaultmemApp, refusals: Refusals, *, is_idle: bool) -> None:
    """Say which notes were not changed, and why; or that there was nothing to change."""
    if refusals:
        told = [
            Content.assemble((plain(path), "bold"), "\n  ", plain(reason), "\n")
            for path, reason in refusals.items()
        ]
        app.push_screen(ToldDialog(f"{counted(len(refusals), 'note')} not changed", told))
    elif is_idle:
        app.say("Nothing had to be changed.")


def edit_tags(app: VaultmemApp, paths: Sequence[str]) -> None:
    """Open the tag editor."""
    notes = app.notes_at(paths)
    if notes:
        what = f"Tags of {_named(notes)}"
        app.push_screen(TagDialog(what, notes, app.dashboard.shelf.tag_uses))


def rename_tag(app: VaultmemApp) -> None:
    """Open the dialog that renames a tag over the vault."""
    app.push_screen(RenameTagDialog("Renamed a tag", app.dashboard.shelf.tags))


def describe(app: VaultmemApp, path: str) -> None:
    """Open the description editor."""
    notes = app.notes_at([path])
    if notes:
        what = f"Description of {_named(notes)}"
        app.push_screen(DescribeDialog(what, notes[0]))


def set_status(app: VaultmemApp, paths: Sequence[str], status: str) -> None:
    """Write this status."""
    from vaultmem.notes.metadata import Status

    notes = app.notes_at(paths)
    verb = "Made active" if status == "active" else "Deprecated"
    _change_notes(app, f"{verb}: {_named(notes)}", notes, partial(_set_status, status=Status(status)))


def _set_status(engine: Engine, note: NoteView, status: Status) -> Edited:
    return engine.set_status(note.id, status, path=note.path)


def adopt(app: VaultmemApp, paths: Sequence[str]) -> None:
    """Give the notes fresh ids."""
    notes = app.notes_at(paths)
    _change_notes(app, f"New id for {_named(notes)}", notes, lambda engine, note: engine.adopt(note.path))


def trash(app: VaultmemApp, paths: Sequence[str], reason: str) -> None:
    """Ask, then move the notes to the vault's trash."""

    def answered(is_yes: bool | None) -> None:
        if is_yes:
            what = f"Trashed {counted(len(paths), 'note')}"
            ask(
                app,
                lambda engine: for_each(paths, engine.trash),
                lambda done: Changed(Change(what, trashed=tuple(done[0])), done[1]),
                what="moving to the trash",
                is_exclusive=False,
            )

    note = "They go to the vault's .trash folder; u brings them back." + (
        f"\n{plain(reason)}" if reason else ""
    )
    question = f"Move {counted(len(paths), 'note')} to the trash?"
    app.push_screen(ConfirmDialog(question, paths, note, "Move to trash"), answered)


def _change_notes(
    app: VaultmemApp, what: str, notes: Sequence[NoteView], call: Callable[[Engine, NoteView], Edited]
) -> None:
    by_path = {note.path: note for note in notes}
    _change(app, what, list(by_path), lambda engine, path: call(engine, by_path[path]))


def _change(app: VaultmemApp, what: str, paths: Sequence[str], call: Callable[[Engine, str], Edited]) -> None:
    """The same call for every path; what came of it goes to the history, refusals are told with their reasons."""
    ask(
        app,
        lambda engine: for_each(paths, lambda path: call(engine, path)),
        lambda done: Changed(Change(what, tuple(edit for edit in done[0] if edit.changed)), done[1]),
        what=what,
        is_exclusive=False,
    )


def undo(app: VaultmemApp) -> None:
    """Take the last change back."""
    change = app.history.take_undo()
    if change is None:
        app.notify("There is nothing to undo in this session.", markup=False)
    elif change.trashed:
        ask(app, partial(_restore, change), lambda done: Undone(*done), what="undoing", is_exclusive=False)
    else:
        ask(app, partial(_undo, change), lambda done: Undone(*done), what="undoing", is_exclusive=False)


def _undo(change: Change, engine: Engine) -> tuple[Change, Refusals]:
    by_path = {edit.path: edit for edit in reversed(change.edits)}
    done, refused = for_each(by_path, lambda path: _take_back(engine, by_path[path]))
    return Change(change.what, tuple(reversed(done))), refused


def _take_back(engine: Engine, edit: Edited) -> Edited:
    engine.undo(edit)
    return edit


def _restore(change: Change, engine: Engine) -> tuple[Change, Refusals]:
    by_path = {each.path: each for each in change.trashed}
    done, refused = for_each(by_path, lambda path: _bring_back(engine, by_path[path]))
    return Change(change.what, trashed=tuple(done)), refused


def _bring_back(engine: Engine, trashed: Trashed) -> Trashed:
    engine.restore(trashed)
    return trashed


def redo(app: VaultmemApp) -> None:
    """Do again what was undone last."""
    change = app.history.take_redo()
    if change is None:
        app.notify("There is nothing to redo.", markup=False)
    elif change.trashed:
        ask(
            app, partial(_trash_again, change), lambda done: Redone(*done), what="redoing", is_exclusive=False
        )
    else:
        ask(app, partial(_redo, change), lambda done: Redone(*done), what="redoing", is_exclusive=False)


def _redo(change: Change, engine: Engine) -> tuple[Change, Refusals]:
    by_path = {edit.path: edit for edit in change.edits}
    done, refused = for_each(by_path, lambda path: apply_as_shown(engine, by_path[path], "redo"))
    return Change(change.what, tuple(done)), refused


def _trash_again(change: Change, engine: Engine) -> tuple[Change, Refusals]:
    done, refused = for_each([each.path for each in change.trashed], engine.trash)
    return Change(change.what, trashed=tuple(done)), refused


def _named(notes: Sequence[NoteView]) -> str:
    if len(notes) == 1:
        return f"“{plain(notes[0].name)}”"
    return counted(len(notes), "note")
