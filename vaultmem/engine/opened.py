"""A note as it is on disk now, opened by its path. Needs no caches, and so nothing of what they are made with."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from vaultmem.errors import RefusedError
from vaultmem.files.vault import Vault
from vaultmem.notes.names import sync_copy_of
from vaultmem.notes.parse import Note, parse_note
from vaultmem.views import NoteCopy, OpenedMemory

WHOLE_BODY_BYTES = 1_000_000
"""A parsed note's body is cut at a mebibyte; a larger file's is taken from its text."""


def note_now(vault: Vault, path: str) -> Note | None:
    """The note as its file says now, unknown where it cannot be read; None when it is gone."""
    reading = vault.note_at(path)
    return reading.note if reading else None


def read_memory(vault: Vault, path: str) -> OpenedMemory:
    """A note as it is on disk now.

    Raises:
        NoteNotFoundError: it is gone.
        RefusedError: it cannot be read, or is not UTF-8.
    """
    data, _ = vault.read(path)
    return opened(parse_note(path, data), data)


def readable_note(vault: Vault, path: str) -> Note:
    """What a note says as its file is now, which is not held whole. Raises as `read_memory`."""
    note = vault.read_note(path).note
    if not note.is_readable:
        read_memory(vault, path)  # says why it cannot be had
    return note


def opened(note: Note, data: bytes) -> OpenedMemory:
    """A note and its bytes as an answer. Raises RefusedError when they are not UTF-8."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RefusedError(
            f"{note.path} is not UTF-8 (byte {error.start})", advice="Save it as UTF-8 in an editor."
        ) from None
    body = note.body if len(data) <= WHOLE_BODY_BYTES else _whole_body(note, text)
    return OpenedMemory(note.metadata, note.path, body, text, note.digest)


def _whole_body(note: Note, text: str) -> str:
    start = 0
    for _ in range(note.body_line - 1):
        start = text.find("\n", start) + 1
    return text[start:]


def copies(vault: Vault, paths: Iterable[str]) -> tuple[NoteCopy, ...]:
    """What tells notes with the same id apart. Paths that are gone are left out."""
    everyone = tuple(paths)
    siblings = [path.rpartition("/")[2] for path in everyone]
    found = []
    for path in everyone:
        stat = vault.stat(path)
        if stat is not None:
            mtime = datetime.fromtimestamp(stat.mtime_ns / 1e9, UTC)
            found.append(NoteCopy(path, mtime, stat.size, sync_copy_of(path, siblings) is not None))
    return tuple(found)
