"""Changes notes for a person or an agent: finds the note, proves the change, writes it, lets the caches follow.

What a change means is in `changes`, how it is proven in `edits`; the file is replaced by `vault`, and only while it
still holds the bytes that were read.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path

from vaultmem.editing import changes, edits
from vaultmem.editing.changes import Change
from vaultmem.editing.entries import Value
from vaultmem.engine.opened import opened
from vaultmem.errors import (
    ConcurrentChangeError,
    EditRefusedError,
    NoteNotFoundError,
    RefusedError,
    StoreError,
    UsageError,
)
from vaultmem.files.vault import Vault
from vaultmem.notes.names import new_id, note_path
from vaultmem.notes.parse import Note, parse_note
from vaultmem.notes.tags import normalise_tag
from vaultmem.stores.catalog_rows import NoteRow
from vaultmem.text.amounts import size
from vaultmem.text.moments import local, utc_now
from vaultmem.views import Edited, OpenedMemory, Saved, Trashed

RETRY_S = 10.0
"""How long an edit is made anew when others save the same note at the same time."""

EDIT_LIMIT_BYTES = 64_000_000
"""A proof holds a note several times over, in bytes, as text and as lines: about seven times this."""


class Editor:
    """Edits the notes of one vault.

    `path_of` finds the one note with an id, `paths_with_id` all of them. `demand_root` is called before a write,
    `follow(path, what)` after it. `strike` gives the moment of a new id, each only once.
    """

    def __init__(
        self,
        vault: Vault,
        *,
        path_of: Callable[[str], str],
        paths_with_id: Callable[[str], tuple[str, ...]],
        demand_root: Callable[[], None],
        follow: Callable[[str, str], None],
        strike: Callable[[], datetime],
    ) -> None:
        self._vault = vault
        self._path_of = path_of
        self._paths_with_id = paths_with_id
        self._demand_root = demand_root
        self._follow = follow
        self._strike = strike

    def edit(
        self,
        note_id: str | None,
        path: str | None,
        change: Change,
        what: str,
        *,
        dry_run: bool,
        is_retried: bool = True,
    ) -> Edited:
        """Make one change to one note; `path` chooses among notes with one id.

        When somebody else saves the note meanwhile, it is read and the change made and proven again, for a while.
        Raises NoteNotFoundError, ConflictError, EditRefusedError, ConcurrentChangeError, UsageError.
        """
        deadline = time.monotonic() + (RETRY_S if is_retried else 0.0)
        while True:
            before, target = self._target(note_id, path)
            edited = changes.edited(target, before, change)
            if dry_run or not edited.changed:
                return edited
            try:
                self._write(target, edited.before, edited.after, what)
            except ConcurrentChangeError as error:
                if error.kept or time.monotonic() >= deadline:
                    raise
            else:
                return edited

    def _target(self, note_id: str | None, path: str | None) -> tuple[bytes, str]:
        """The bytes of the note that is meant; a `path` wins, but must not lead to a note with another id."""
        self._demand_root()
        if path is None:
            if note_id is None:
                raise UsageError("neither an id nor a path was given")
            path = self._path_of(note_id)
        self._demand_editable(path)
        before, _ = self._vault.read(path)
        found = parse_note(path, before).id
        if note_id is not None and found is not None and found != note_id.strip():
            raise NoteNotFoundError(f"{path} has the id {found!r}, not {note_id!r}")
        return before, path

    def _demand_editable(self, path: str) -> None:
        """Raise EditRefusedError for a file so large that proving an edit would fill the machine's memory."""
        stat = self._vault.stat(path)
        if stat is not None and stat.size > EDIT_LIMIT_BYTES:
            raise EditRefusedError(
                f"{path} has {size(stat.size)}, more than the {size(EDIT_LIMIT_BYTES)} of which an edit can be proven",
                advice="Split it into several memories, or edit it by hand.",
            )

    def _write(self, path: str, before: bytes, after: bytes, what: str) -> None:
        self._demand_root()
        self._vault.replace(path, before, after)
        self._follow(path, what)

    def apply(self, edited: Edited, what: str) -> None:
        """Write what a dry run showed. Raises ConcurrentChangeError when the note changed since it was shown."""
        self._write(edited.path, edited.before, edited.after, what)

    def undo(self, edited: Edited) -> None:
        """Put back the bytes from before an edit. Raises ConcurrentChangeError when the note changed since."""
        self._write(edited.path, edited.after, edited.before, "undo")

    def adopt(self, path: str, *, dry_run: bool = False) -> Edited:
        """Give a note without an id, or one of several with the same id, a fresh one.

        Raises NoteNotFoundError, EditRefusedError; a note whose id is its own is refused.
        """

        def change(note: Note, before: bytes) -> bytes:
            if note.id is not None and not set(self._paths_with_id(note.id)) - {path}:
                raise EditRefusedError(f"{path} has an id of its own: {note.id}")
            return edits.set_id(before, self._fresh_id(note.name))

        return self.edit(None, path, change, "id", dry_run=dry_run)

    def _fresh_id(self, name: str) -> str:
        """An id that no other save gets, and no note on record has, such as one that a sync tool brought."""
        with contextlib.suppress(StoreError):  # no caches: no ids on record
            while self._paths_with_id(fresh := new_id(name, self._strike())):
                pass
            return fresh
        return new_id(name, self._strike())

    def rename_tag(self, rows: Iterable[NoteRow], old: str, new: str, *, dry_run: bool) -> tuple[Edited, ...]:
        """Rename a tag and its children (`old/…`) in each of `rows` that has them; an existing `new` is merged with.

        Notes that refuse are left as they are and not in the answer. Raises UsageError when `new` is no tag.
        """
        source, target = normalise_tag(old), normalise_tag(new)
        if not source or not target:
            raise UsageError(f"{old if not source else new!r} is no tag")
        done = []
        for row in rows:
            tags = changes.renamed_tags(row.tags, source, target)
            if tags != row.tags:
                with contextlib.suppress(RefusedError):
                    change = changes.tags_change((), (), tags)
                    done.append(self.edit(None, row.path, change, "tags", dry_run=dry_run))
        return tuple(done)

    def trash(self, path: str, *, dry_run: bool = False) -> Trashed:
        """Move a note to the `.trash` of its Obsidian vault. Raises NoteNotFoundError, RefusedError."""
        if dry_run:
            self._vault.read(path)
            return Trashed(path, str(self._vault.trash_folder(path)))
        self._demand_root()
        trashed = Trashed(path, str(self._vault.trash(path)))
        self._follow(path, "trash")
        return trashed

    def restore(self, trashed: Trashed) -> None:
        """Move a note back from the trash. Raises RefusedError when something lies at its path by now."""
        self._demand_root()
        self._vault.restore(Path(trashed.trashed_to), trashed.path)
        self._follow(trashed.path, "restore")

    def save(
        self,
        note_id: str | None,
        fields: Mapping[str, Value],
        body: str | None,
        *,
        similar: Callable[[OpenedMemory], tuple[str, ...]],
        dry_run: bool,
    ) -> Saved:
        """Write a new memory, or change the given fields of one; `similar` finds others that say nearly the same.

        Raises UsageError, NoteNotFoundError, ConflictError, EditRefusedError, ConcurrentChangeError.
        """
        if note_id is None:
            return self._save_new(fields, body, similar, dry_run)
        change = changes.update_change(fields, body, utc_now())
        # A body was written for the note as its writer knew it: it does not go over what somebody saved since.
        edited = self.edit(note_id, None, change, "save", dry_run=dry_run, is_retried=body is None)
        memory = opened(parse_note(edited.path, edited.after), edited.after)
        return Saved(memory, False, edited.diff, similar(memory))

    def _save_new(
        self,
        fields: Mapping[str, Value],
        body: str | None,
        similar: Callable[[OpenedMemory], tuple[str, ...]],
        dry_run: bool,
    ) -> Saved:
        self._demand_root()
        now = utc_now()
        whole, text = changes.new_memory(fields, body, self._fresh_id, now)
        data = edits.compose_note(whole, text)
        path = note_path(str(whole["name"]), local(now))  # the day that people have here
        found = similar(opened(parse_note(path, data), data))
        if not dry_run:
            path = self._vault.create(path, data)
            self._follow(path, "save")
        memory = opened(parse_note(path, data), data)
        return Saved(memory, True, edits.diff(b"", data, path), found)
